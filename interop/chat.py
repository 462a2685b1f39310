"""The stanzas of ConnectyCube's chat by slixmpp, the ways to write one, and a chat server by websockets."""

import queue
import re
import threading
import time
from xml.etree import ElementTree

import websockets.exceptions
from slixmpp.features.feature_bind.stanza import Bind
from slixmpp.features.feature_mechanisms.stanza import Auth, Failure, Mechanisms, Success
from slixmpp.jid import JID
from slixmpp.plugins.xep_0199.stanza import Ping
from slixmpp.stanza import Iq, Message, Presence, StreamFeatures
from slixmpp.stanza.error import Error
from slixmpp.stanza.stream_error import StreamError
from slixmpp.xmlstream import ElementBase, register_stanza_plugin
from websockets.sync.server import serve

DOMAIN = "chat.test"
KINDS = ("call", "accept", "reject", "hangUp", "iceCandidates", "restart", "restart-accept")


class Open(ElementBase):
    name, namespace, plugin_attrib = "open", "urn:ietf:params:xml:ns:xmpp-framing", "open"
    interfaces = {"to", "from", "id", "version"}


class Close(ElementBase):
    name, namespace, plugin_attrib = "close", "urn:ietf:params:xml:ns:xmpp-framing", "close"


class Signal(ElementBase):
    """The content of a call's signal."""

    name, namespace, plugin_attrib = "extraParams", "jabber:client", "signal"
    sub_interfaces = {"moduleIdentifier", "signalType", "sessionID", "callType", "callerID", "platform", "sdp"}
    interfaces = sub_interfaces

    def all(self):
        """Returns all parameters, nested ones as dictionaries and lists."""

        def value(element):
            return element.text or "" if not len(element) else [(local(e), value(e)) for e in element]

        return {local(element): value(element) for element in self.xml if element.tag.startswith("{jabber:client}")}

    def add(self, name, value):
        add(self.xml, name, value)


for plugin, stanza in ((Mechanisms, StreamFeatures), (Bind, StreamFeatures), (Bind, Iq), (Ping, Iq), (Signal, Message)):
    register_stanza_plugin(stanza, plugin)
STANZAS = {
    f"{{{each.namespace}}}{each.name}": each
    for each in (Open, Close, Auth, Success, Failure, Iq, Message, Presence)
} | {f"{{{StreamFeatures.namespace}}}features": StreamFeatures, f"{{{StreamFeatures.namespace}}}error": StreamError}


def local(element):
    return element.tag.rpartition("}")[2]


def add(parent, name, value):
    child = ElementTree.SubElement(parent, "{jabber:client}" + name)
    if isinstance(value, str):
        child.text = value
    else:
        for key, inner in value:
            add(child, key, inner)


def address(user):
    return f"{user}-1@{DOMAIN}"


def parsed(text):
    """Returns the stanza of a frame, which must be valid by RFC 6120 and RFC 7395."""
    # RFC 7395 section 3.3.3: a frame begins with an element, and has no declaration.
    assert isinstance(text, str) and re.match(r"<[^?!]", text), text[:200]
    xml = ElementTree.fromstring(text)
    assert xml.tag in STANZAS, f"no stanza: {text[:200]}"
    stanza = STANZAS[xml.tag](xml=xml) if STANZAS[xml.tag] is not Message else Message(xml=xml, recv=True)
    if isinstance(stanza, (Iq, Message, Presence)):
        for name in ("from", "to"):
            JID(xml.get(name, ""))
        assert set(xml.attrib) <= {"from", "to", "id", "type", "{http://www.w3.org/XML/1998/namespace}lang"}, text[:200]
        if xml.get("type") == "error":
            error = xml.find("{jabber:client}error")
            assert error.get("type") in Error.types, text
            conditions = [local(each) for each in error if each.tag.startswith("{" + Error.condition_ns + "}")]
            assert len(conditions) == 1 and conditions[0] in Error.conditions, text
    if isinstance(stanza, Iq):
        kind = xml.get("type")
        assert xml.get("id") and kind in ("get", "set", "result", "error"), text
        # RFC 6120 section 8.2.3.
        assert len(xml) == 1 if kind in ("get", "set") else len(xml) <= 1 or kind == "error", text
    if isinstance(stanza, Message):
        assert xml.get("type", "normal") in Message.types, text[:200]
    if isinstance(stanza, StreamError):
        assert len(xml) >= 1 and stanza["condition"] in StreamError.conditions, text
    if isinstance(stanza, Failure):
        assert len(xml) == 1 and local(xml[0]) in Failure.conditions, text
    if isinstance(stanza, Open):
        assert xml.get("version") == "1.0", text
    return stanza


def new_iq(kind, identity, to=None):
    iq = Iq()
    iq["type"], iq["id"] = kind, identity
    if to:
        iq["to"] = to
    return iq


def new_signal(kind, to, identity, **parameters):
    message = Message()
    message["type"], message["to"], message["id"] = "headline", to, identity
    signal = message["signal"]
    for name, value in {"moduleIdentifier": "WebRTCVideoChat", "signalType": kind, "sessionID": "s-1", **parameters}.items():
        signal.add(name, value)
    return message


# Forms of one stanza.


def prefixed(text):
    """All elements of jabber:client with a prefix."""
    text = re.sub(r"<(/?)([a-zA-Z])", r"<\1c:\2", text)
    return text.replace("xmlns=", "xmlns:c=", 1)


def spaced(text):
    return re.sub(r"(</?)([A-Za-z]+)([^<>]*?)(/?>)", r"\1\2\3\n \4", text).replace("><", ">\n\t <")


def turned(text):
    """The parameters in the reverse order."""
    xml = ElementTree.fromstring(text)
    for each in xml:
        each[:] = reversed(each[:]) if local(each) == "extraParams" else each[:]
    ElementTree.register_namespace("", "jabber:client")
    return ElementTree.tostring(xml, encoding="unicode").replace("\r", "&#13;")


def cdata(text):
    return re.sub(r">([^<>]+)<", lambda found: "><![CDATA[" + unescaped(found[1]).replace("]]>", "]]]]><![CDATA[>") + "]]><", text)


def unescaped(text):
    return ElementTree.fromstring(f"<x>{text}</x>").text


def entities(text):
    return re.sub(r">([^<>]+)<", lambda found: ">" + "".join(f"&#x{ord(each):x};" for each in unescaped(found[1])) + "<", text)


def extended(text):
    inside = "<extension xmlns='urn:y'>?<signalType>reject</signalType></extension><sessionID xmlns='urn:y'>x</sessionID>"
    text = text.replace("</extraParams>", inside + "</extraParams>")
    return text.replace("</message>", "<ext xmlns='urn:x' k='1'>" + inside + "</ext><body>Ring</body></message>")


FORMS = {
    "plain": str, "prefix": prefixed, "whitespace": spaced, "order": turned, "CDATA": cdata, "entities": entities,
    "extension": extended, "language": lambda text: text.replace("<message ", "<message xml:lang='de' ", 1),
}  # fmt: skip


# A server for our apps, which passes signals between users as the product's does.


class PythonServer:
    def __init__(self, subprotocols=("xmpp",)):
        self.users, self.form, self.wrong, self.errors, self.bounces = {}, str, [], [], False
        self.received = queue.Queue()
        self.messages, self.closes, self.logins = [], [], 0
        self.server = serve(self.serve, "127.0.0.1", 0, subprotocols=list(subprotocols), compression=None)
        self.port = self.server.socket.getsockname()[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def serve(self, socket):
        user, is_authenticated = None, False
        try:
            for text in socket:
                stanza = parsed(text)
                if isinstance(stanza, Open):
                    self.opened(socket, stanza, is_authenticated)
                elif isinstance(stanza, Auth):
                    assert stanza["mechanism"] == "PLAIN"
                    authzid, user, password = (part.decode() for part in stanza["value"].split(b"\0"))
                    self.logins += 1
                    assert authzid in ("", address(user)), authzid
                    if user in self.wrong:
                        failure = Failure()
                        failure["condition"] = "not-authorized"
                        socket.send(str(failure))
                        continue
                    is_authenticated = True
                    socket.send(str(Success()))
                elif isinstance(stanza, Close):
                    self.closes.append(user)
                    socket.send(str(Close()))
                else:
                    assert is_authenticated, text
                    self.take(socket, user, stanza)
        except websockets.exceptions.ConnectionClosed:
            pass  # The app has gone, as it may when the stream is closed.
        except Exception as error:  # noqa: BLE001
            self.errors.append(error)
        finally:
            if self.users.get(user) is socket:
                del self.users[user]

    def opened(self, socket, stream, is_authenticated):
        assert stream["to"] == DOMAIN, stream
        answer = Open()
        answer["from"], answer["id"], answer["version"] = DOMAIN, f"s{time.monotonic_ns()}", "1.0"
        socket.send(str(answer))
        # Others offer what is no concern of ours.
        features = StreamFeatures()
        if is_authenticated:
            features["bind"]
            features.xml.append(ElementTree.Element("{urn:xmpp:sm:3}sm"))
        else:
            features["mechanisms"] = ["SCRAM-SHA-256", "PLAIN"]
        socket.send(str(features))

    def take(self, socket, user, stanza):
        if isinstance(stanza, Iq):
            self.received.put((user, stanza))
            if stanza["type"] == "set" and stanza.xml.find("{urn:ietf:params:xml:ns:xmpp-bind}bind") is not None:
                answer = new_iq("result", stanza["id"])
                answer["bind"]["jid"] = f"{address(user)}/{stanza['bind']['resource'] or 'r'}"
                # The app says that it is connected as soon as it has the answer.
                self.users[user] = socket
                socket.send(str(answer))
            elif stanza["type"] == "get":
                answer = new_iq("result", stanza["id"])
                socket.send(str(answer))
        elif isinstance(stanza, Message):
            self.messages.append((user, stanza))
            signal = stanza["signal"]
            assert stanza["type"] == "headline" and signal["moduleIdentifier"] == "WebRTCVideoChat", stanza
            assert signal["signalType"] in KINDS and signal["sessionID"], stanza
            assert all(each.tag.startswith("{jabber:client}") for each in stanza.xml.iter()), stanza
            assert JID(stanza["to"]).domain == DOMAIN and not stanza["from"], stanza
            recipient = stanza["to"].user.removesuffix("-1")
            if self.bounces:
                # With the content, as RFC 6120 section 8.3.1 allows.
                bounced = Message(xml=ElementTree.fromstring(str(stanza)), recv=True)
                bounced["type"], bounced["from"], bounced["to"] = "error", stanza["to"], address(user)
                bounced["error"]["condition"] = "recipient-unavailable"
                socket.send(str(bounced))
                return
            stanza["from"] = f"{address(user)}/ios"
            if recipient in self.users:
                # Line ends of descriptions must survive.
                self.users[recipient].send(self.form(str(stanza).replace("\r", "&#13;")))

    def asked(self, user, iq):
        """Sends a query, and returns the answer."""
        while not self.received.empty():
            self.received.get()
        self.users[user].send(str(iq))
        while True:
            who, answer = self.received.get(timeout=5)
            if (who, answer["id"]) == (user, iq["id"]):
                return answer

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.server.shutdown()
        # What was wrong with a stanza of ours is the cause of all that followed.
        if self.errors:
            raise AssertionError(self.errors[0])
