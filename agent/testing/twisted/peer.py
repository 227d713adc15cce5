"""Speaks AMP with Twisted: a client of the agent's socket, and a server for the agent's commands.

peer.py CLIENT_SOCKET SERVER_SOCKET prints what the client saw as a line of JSON, and then serves until its standard
input ends. It prints "serving" when the server listens.
"""

import json
import os
import sys

# Twisted loads TLS if it can, which takes half of its start.
sys.modules["OpenSSL"] = None

from twisted.internet import defer, reactor, stdio
from twisted.internet.protocol import ClientFactory, Factory, Protocol, connectionDone
from twisted.protocols import amp


class Failure(Exception):
    """Base of the errors that the agent answers with."""


ERRORS = {
    type(name, (Failure,), {}): name.encode()
    for name in ["UnknownClient", "NoSuchUnit", "BadValue", "NotPermitted", "TooLong", "PortalAway", "NotImplemented"]
}
ERRORS[KeyError] = b"KeyError"


def command(name, arguments, response, needs_answer=True):
    return type(
        name,
        (amp.Command,),
        {
            "commandName": name.encode(),
            "arguments": [(each.encode(), amp.Unicode()) for each in arguments],
            "response": [(each.encode(), amp.Unicode()) for each in response],
            "errors": ERRORS,
            "requiresAnswer": needs_answer,
        },
    )


Get = command("get", ["client_id", "unit_name", "setting_name"], ["value"])
Set = command("set", ["client_id", "unit_name", "json_blob"], [])
SetSilently = command("set", ["client_id", "unit_name", "json_blob"], [], needs_answer=False)
ListRelations = command("list_relations", ["client_id"], ["members"])
Flush = command("flush", ["client_id"], [])
Sync = command("sync", ["client_id"], [])
Wait = command("wait", ["client_id", "keyname"], [])
Unknown = command("unknown", [], [])


class SlowAMP(amp.AMP):
    """Writes every byte with a separate system call."""

    def sendBox(self, box):
        for byte in box.serialize():
            os.write(self.transport.fileno(), bytes([byte]))


class Raw(Protocol):
    def __init__(self):
        self.closed = defer.Deferred()

    def connectionLost(self, reason=connectionDone):
        self.closed.callback(True)


class Joined(ClientFactory):
    def __init__(self, protocol):
        self.protocol = protocol
        self.connected = defer.Deferred()

    def buildProtocol(self, addr):
        instance = self.protocol()
        made = instance.connectionMade

        def connection_made():
            made()
            self.connected.callback(instance)

        instance.connectionMade = connection_made
        return instance


def join(path, protocol=amp.AMP):
    factory = Joined(protocol)
    reactor.connectUNIX(path, factory)
    return factory.connected


async def outcome(deferred):
    """The answer, or the name and the text of the error."""
    try:
        return await deferred
    except Exception as error:  # noqa: BLE001
        return [type(error).__name__, str(error.args[0]) if error.args else ""]


LOCAL, REMOTE = "wordpress/1", "mysql/0"


async def talk(path):
    seen = {}
    one = await join(path)

    def get(key, unit=REMOTE, client="twisted", connection=one):
        return outcome(connection.callRemote(Get, client_id=client, unit_name=unit, setting_name=key))

    def set_(blob, unit=LOCAL, client="twisted", connection=one):
        call = {"client_id": client, "unit_name": unit, "json_blob": blob}
        return outcome(defer.maybeDeferred(connection.callRemote, Set, **call))

    seen["value"] = await get("host")
    seen["missing key"] = await get("absent")
    seen["whole node"] = await get("")
    seen["other unit’s node"] = await set_("{}", REMOTE)
    seen["no unit"] = await get("host", "wordpress")
    seen["no object"] = await set_("[1]")
    seen["members"] = await outcome(one.callRemote(ListRelations, client_id="twisted"))
    seen["unknown client"] = await get("host", client="guessed")
    seen["flush"] = await outcome(one.callRemote(Flush, client_id="twisted"))
    seen["sync"] = await outcome(one.callRemote(Sync, client_id="twisted"))
    seen["wait"] = await outcome(one.callRemote(Wait, client_id="twisted", keyname="k"))
    seen["unknown command"] = await outcome(one.callRemote(Unknown))
    seen["after errors"] = await get("port")
    seen["set"] = await set_(json.dumps({"user": "wp", "text": "Grüße \u2028 \U0001f600"}, ensure_ascii=False))
    seen["own value"] = await get("text", LOCAL)
    one.callRemote(SetSilently, client_id="twisted", unit_name=LOCAL, json_blob='{"silent":1}')
    one.callRemote(SetSilently, client_id="guessed", unit_name=LOCAL, json_blob='{"silent":2}')
    seen["set without an answer"] = await get("silent", LOCAL)
    set_pending = defer.ensureDeferred(set_('{"pool":12}'))
    seen["get sent with a set"] = await get("pool", LOCAL)
    seen["set sent with a get"] = await set_pending

    asks = [defer.ensureDeferred(get(["host", "port", "absent"][at % 3])) for at in range(200)]
    answers = [await ask for ask in asks]
    seen["200 asks"] = [json.dumps(answer) for answer in answers[:3]]
    seen["200 asks agree"] = all(answer == answers[at % 3] for at, answer in enumerate(answers))

    two, slow = await join(path), await join(path, SlowAMP)
    seen["other connection"] = await get("pool", LOCAL, connection=two)
    seen["other client"] = await get("pool", LOCAL, "second", two)
    seen["byte by byte"] = await get("host", connection=slow)
    seen["set byte by byte"] = await set_('{"slow":true}', connection=slow)

    seen["65,535 bytes"] = await set_(json.dumps({"big": "v" * (65535 - 11)}))
    seen["64,000 bytes"] = await set_(json.dumps({"big": "v" * (64000 - 11)}), client="second")
    seen["large value"] = len((await get("", LOCAL, "second"))["value"])
    seen["65,536 bytes"] = (await set_("v" * 65536))[0]

    for name, data in [
        ("empty box", b"\0\0"),
        ("key of 256 bytes", b"\1\0" + b"k" * 256),
        ("garbage", b"GET / HTTP/1.1\r\n\r\n"),
        ("answer that was not requested", amp.AmpBox(_answer=b"1").serialize()),
    ]:
        raw = await join(path, Raw)
        raw.transport.write(data)
        seen[name] = await raw.closed
    seen["after closed connections"] = await get("host")
    for connection in [one, two, slow]:
        connection.transport.loseConnection()
    return seen


class Agent(amp.AMP):
    """A server that answers like an agent, from one dictionary."""

    settings = {"host": '"10.0.0.9"', "port": "3307"}
    sets = []

    @Get.responder
    def get(self, client_id, unit_name, setting_name):
        if client_id != "twisted":
            raise next(error for error in ERRORS if error.__name__ == "UnknownClient")("no such client")
        if setting_name == "sets":
            return {"value": json.dumps(self.sets)}
        return {"value": self.settings[setting_name]}

    @Set.responder
    def set_(self, client_id, unit_name, json_blob):
        self.sets.append([client_id, unit_name, json_blob])
        return {}

    @ListRelations.responder
    def list_relations(self, client_id):
        return {"members": "mysql/0 mysql/1"}


class SlowAgent(Agent, SlowAMP):
    """A server that answers byte by byte."""


class UntilEnd(Protocol):
    def connectionLost(self, reason=connectionDone):
        if reactor.running:
            reactor.stop()


def main(client_socket, server_socket):
    reactor.listenUNIX(server_socket, Factory.forProtocol(Agent))
    reactor.listenUNIX(server_socket + ".slow", Factory.forProtocol(SlowAgent))
    stdio.StandardIO(UntilEnd())

    async def run():
        os.write(1, (json.dumps(await talk(client_socket)) + "\nserving\n").encode())

    def failed(reason):
        os.write(1, (json.dumps({"failed": reason.getTraceback()}) + "\nserving\n").encode())

    reactor.callWhenRunning(lambda: defer.ensureDeferred(run()).addErrback(failed))
    reactor.run()


main(*sys.argv[1:])
