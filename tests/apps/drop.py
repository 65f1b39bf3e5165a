# Drops files on a window of an X display by the XDND protocol, as a file manager does.
# SPDX-License-Identifier: MIT
import ctypes
import ctypes.util
import sys
import time
from urllib.parse import quote

SELECTION_REQUEST, SELECTION_NOTIFY, CLIENT_MESSAGE = 30, 31, 33
Window = Atom = ctypes.c_ulong


class ClientMessage(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int),
                ("display", ctypes.c_void_p), ("window", Window), ("message_type", Atom),
                ("format", ctypes.c_int), ("data", ctypes.c_long * 5)]


class SelectionRequest(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int),
                ("display", ctypes.c_void_p), ("owner", Window), ("requestor", Window),
                ("selection", Atom), ("target", Atom), ("property", Atom), ("time", ctypes.c_ulong)]


class SelectionNotify(ctypes.Structure):
    _fields_ = SelectionRequest._fields_[:4] + [("requestor", Window), ("selection", Atom),
                                                ("target", Atom), ("property", Atom),
                                                ("time", ctypes.c_ulong)]


class Event(ctypes.Union):
    _fields_ = [("type", ctypes.c_int), ("client", ClientMessage), ("request", SelectionRequest),
                ("notify", SelectionNotify), ("pad", ctypes.c_long * 24)]


def load():
    x = ctypes.CDLL(ctypes.util.find_library("X11") or "libX11.so.6")
    x.XOpenDisplay.restype = ctypes.c_void_p
    x.XOpenDisplay.argtypes = [ctypes.c_char_p]
    x.XDefaultRootWindow.restype = Window
    x.XDefaultRootWindow.argtypes = [ctypes.c_void_p]
    x.XCreateSimpleWindow.restype = Window
    x.XCreateSimpleWindow.argtypes = [ctypes.c_void_p, Window] + [ctypes.c_int] * 2 + [
        ctypes.c_uint] * 3 + [ctypes.c_ulong] * 2
    x.XInternAtom.restype = Atom
    x.XInternAtom.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
    x.XSetSelectionOwner.argtypes = [ctypes.c_void_p, Atom, Window, ctypes.c_ulong]
    x.XSendEvent.argtypes = [ctypes.c_void_p, Window, ctypes.c_int, ctypes.c_long, ctypes.c_void_p]
    x.XChangeProperty.argtypes = [ctypes.c_void_p, Window, Atom, Atom, ctypes.c_int, ctypes.c_int,
                                  ctypes.c_char_p, ctypes.c_int]
    x.XPending.argtypes = x.XFlush.argtypes = [ctypes.c_void_p]
    x.XNextEvent.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    x.XSync.argtypes = [ctypes.c_void_p, ctypes.c_int]
    return x


class Drag:
    def __init__(self, display_name, target, x, y):
        self.x11 = load()
        self.display = self.x11.XOpenDisplay(display_name.encode())
        assert self.display, display_name
        root = self.x11.XDefaultRootWindow(self.display)
        self.source = self.x11.XCreateSimpleWindow(self.display, root, 0, 0, 1, 1, 0, 0, 0)
        self.target, self.place = target, x << 16 | y

    def atom(self, name):
        return self.x11.XInternAtom(self.display, name.encode(), 0)

    def send(self, name, *data):
        event = Event()
        event.client = ClientMessage(CLIENT_MESSAGE, 0, 1, self.display, self.target,
                                     self.atom(name), 32, (ctypes.c_long * 5)(self.source, *data))
        self.x11.XSendEvent(self.display, self.target, 0, 0, ctypes.byref(event))
        self.x11.XFlush(self.display)

    def wait_for(self, name, seconds=30):
        """Waits for a message; answers who asks for the names of the files."""
        end = time.monotonic() + seconds
        event = Event()
        while time.monotonic() < end:
            if not self.x11.XPending(self.display):
                time.sleep(0.01)
                continue
            self.x11.XNextEvent(self.display, ctypes.byref(event))
            if event.type == SELECTION_REQUEST:
                self.answer(event.request)
            elif event.type == CLIENT_MESSAGE and event.client.message_type == self.atom(name):
                return
        raise AssertionError(f"the window does not answer: {name}")

    def answer(self, request):
        self.x11.XChangeProperty(self.display, request.requestor, request.property, request.target,
                                 8, 0, self.uris, len(self.uris))
        event = Event()
        event.notify = SelectionNotify(SELECTION_NOTIFY, 0, 1, self.display, request.requestor,
                                       request.selection, request.target, request.property,
                                       request.time)
        self.x11.XSendEvent(self.display, request.requestor, 0, 0, ctypes.byref(event))
        self.x11.XFlush(self.display)

    def drop(self, paths):
        self.uris = "".join(f"file://{quote(path)}\r\n" for path in paths).encode()
        self.x11.XSetSelectionOwner(self.display, self.atom("XdndSelection"), self.source, 0)
        self.x11.XSync(self.display, 0)
        self.send("XdndEnter", 5 << 24, self.atom("text/uri-list"), 0, 0)
        self.send("XdndPosition", 0, self.place, 0, self.atom("XdndActionCopy"))
        self.wait_for("XdndStatus")
        self.send("XdndDrop", 0, 0, 0, 0)
        self.wait_for("XdndFinished")


if __name__ == "__main__":  # DISPLAY WINDOW X Y FILE...
    name, window, x, y = sys.argv[1], *map(int, sys.argv[2:5])
    Drag(name, window, x, y).drop(sys.argv[5:])
