#!/usr/bin/env bash
# survey.py finds JPEG files in archives and in other files, each once, and lists them.
#   survey_test.sh PYTHON
# SPDX-License-Identifier: MIT
set -eu
here=$(dirname "$(realpath "$0")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "survey_test.sh: $*" >&2; cat "$folder/out/list.tsv" >&2; exit 1; }

"$1" -B - "$here/../hostile" "$folder" <<'PYTHON'
import gzip, io, pathlib, sys, tarfile, zipfile
hostile, folder = map(pathlib.Path, sys.argv[1:])
full, short, cut, other = ((hostile / f"{name}.jpg").read_bytes() for name in (
    "ac_full_block", "app_adobe_short", "sos_eof", "rst_dup"))
packed = io.BytesIO()
with zipfile.ZipFile(packed, "w") as archive:
    archive.writestr("a/full.png", full)  # a wrong name
    archive.writestr("a/again.jpg", full)
    archive.writestr("a/cut.jpg", cut)
(folder / "in").mkdir()
with tarfile.open(folder / "in" / "all.tar.gz", "w:gz") as archive:
    for name, data in (("b.zip", packed.getvalue()), ("book.pdf", b"%PDF stream\n" + short + b"endstream" + cut)):
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
(folder / "in" / "other.gz").write_bytes(gzip.compress(other))
(folder / "in" / "broken.zip").write_bytes(b"PK\3\4 and no more")
PYTHON

found=4
if command -v dpkg-deb >/dev/null; then
  mkdir -p "$folder/tree/DEBIAN"
  printf 'Package: a\nVersion: 1\nArchitecture: all\nMaintainer: none <none>\nDescription: a\n' >"$folder/tree/DEBIAN/control"
  cp "$here/../hostile/ok_min_gray.jpg" "$folder/tree/picture"
  dpkg-deb --root-owner-group -b "$folder/tree" "$folder/in/a.deb" >/dev/null
  found=5
fi

for run in first second; do
  "$1" -B "$here/survey.py" "$folder/out" "$folder/in" >"$folder/$run.log" 2>&1 || fail "$(cat "$folder/$run.log")"
done
tail -n 1 "$folder/first.log" | grep -q "^$found new files: " || fail "the first run: $(cat "$folder/first.log")"
tail -n 1 "$folder/second.log" | grep -q '^0 new files' || fail "the second run: $(cat "$folder/second.log")"
for name in ac_full_block app_adobe_short sos_eof rst_dup; do
  hash=$(sha256sum <"$here/../hostile/$name.jpg" | cut -d' ' -f1)
  cmp "$here/../hostile/$name.jpg" "$folder/out/files/$hash.jpg" || fail "$name.jpg is not as it was"
  [ "$(grep -c "^$hash" "$folder/out/list.tsv")" = 1 ] || fail "$name.jpg is not listed once"
done
((found == 4)) || grep -q 'a.deb	./picture$' "$folder/out/list.tsv" || fail "nothing in a package"
grep -q 'all.tar.gz	b.zip/a/full.png$' "$folder/out/list.tsv" || fail "no path in an archive"
grep -q 'all.tar.gz	book.pdf+12$' "$folder/out/list.tsv" || fail "no offset in a file"
