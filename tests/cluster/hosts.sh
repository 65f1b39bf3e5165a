# Three hosts on one machine, for slurm.sh: a network namespace and a mount namespace each, joined by a
# bridge. They share $dir by a mount of its own in each; everything under $dir/local differs.
# SPDX-License-Identifier: MIT

isolated=no
login_address=127.0.0.1
node_addresses=127.0.0.1
bridge=zr$$

is_isolated() { [ $isolated = yes ]; }
host_name() { echo "zr$$-$1"; }

make_hosts() {
  local i=0 node net=10.$((RANDOM % 100 + 100)).$((RANDOM % 250))
  unshare -m true 2>/dev/null && ip link add "$bridge" type bridge 2>/dev/null || return 0
  isolated=yes
  ip addr add "$net.254/24" dev "$bridge"
  ip link set "$bridge" up
  mkdir -p "$dir/local"
  for node in "${nodes[@]}"; do
    i=$((i + 1))
    ip netns add "$(host_name "$node")"
    ip link add "v$i-$$" type veth peer name eth0 netns "$(host_name "$node")"
    ip link set "v$i-$$" master "$bridge" up
    ip -n "$(host_name "$node")" addr add "$net.$i/24" dev eth0
    ip -n "$(host_name "$node")" link set eth0 up
    ip -n "$(host_name "$node")" link set lo up
  done
  login_address=$net.254
  node_addresses=$net.[1-3]
}

on_host() {  # NODE COMMAND...
  if ! is_isolated; then
    "${@:2}"
    return
  fi
  # Not `ip netns exec`, which hides the control groups of /sys from slurmd.
  nsenter --net="/run/netns/$(host_name "$1")" unshare -m --propagation private bash -c '
    mount --bind "$0" "$0" && mount -t tmpfs none "$0/local" && exec "$@"' "$dir" "${@:2}"
}

remove_hosts() {
  local node id
  is_isolated || return 0
  for node in "${nodes[@]}"; do
    for id in $(ip netns pids "$(host_name "$node")" 2>/dev/null); do kill -KILL "$id" 2>/dev/null || true; done
    ip netns del "$(host_name "$node")" 2>/dev/null || true
  done
  ip link del "$bridge" 2>/dev/null || true
}
