"""Small clients for the wires of Bedrock, as those in `clients.py`: what they share is the frames."""

import base64
import json
import struct
import zlib

from .clients import TOOL, AnthropicClient, Client


def frames(data):
    """Headers and payload of each frame of an event stream, its checksums verified."""
    while data:
        total, size, check = struct.unpack_from("!III", data)
        (whole,) = struct.unpack_from("!I", data, total - 4)
        assert (zlib.crc32(data[:8]), zlib.crc32(data[: total - 4])) == (check, whole)
        head, headers = data[12 : 12 + size], {}
        while head:
            name, rest = head[1 : 1 + head[0]], head[1 + head[0] :]
            assert rest[0] == 7
            (length,) = struct.unpack_from("!H", rest, 1)
            headers[name.decode()], head = rest[3 : 3 + length].decode(), rest[3 + length :]
        yield headers, data[12 + size : total - 4]
        data = data[total:]


class AmazonClient(Client):
    """What both of Bedrock's wires do alike."""

    model = "anthropic.claude-x-v1:0"
    methods = ("", "")

    def address(self, llm, stream=False):
        return f"{llm.bedrock_url}/model/{self.model.replace(':', '%3A')}/{self.methods[stream]}"

    def headers(self, key="k"):
        return {"authorization": f"Bearer {key}"}

    def error(self, response):
        kind, _, _ = response.headers.get("x-amzn-errortype", "").partition(":")
        body = response.json()
        return body.get("message") or body["error"]["message"], kind or None

    def events(self, response):
        """An exception is an event of its name."""
        if response.content:
            assert response.headers.get("content-type", "application/vnd.amazon.eventstream").endswith("eventstream")
        found = []
        for headers, payload in frames(response.content):
            name = headers.get(":event-type") or headers[":exception-type"]
            assert headers[":message-type"] == ("event" if ":event-type" in headers else "exception")
            found.append({name: json.loads(payload)})
        return found


class BedrockClient(AmazonClient):
    name = "bedrock"
    methods = ("converse", "converse-stream")

    def request(self, text="hello", *, system="You help.", history=(), tools=True, stream=False, model=""):
        body = {"system": [{"text": system}], "messages": [{"role": "user", "content": [{"text": text}]}, *history]}
        if tools:
            spec = {"name": "search", "description": "Finds pages", "inputSchema": {"json": TOOL}}
            body["toolConfig"] = {"tools": [{"toolSpec": spec}]}
        return body

    def turn(self, read, results):
        blocks = [{"text": read["text"]}] if read["text"] else []
        for one in read["calls"]:
            use = {"toolUseId": one["id"], "name": one["name"], "input": json.loads(one["raw"])}
            blocks.append({"toolUse": use})
        history = [{"role": "assistant", "content": blocks}]
        if results:
            pairs = zip(read["calls"], results, strict=True)
            given = [{"toolUseId": one["id"], "content": [{"text": text}]} for one, text in pairs]
            history.append({"role": "user", "content": [{"toolResult": one} for one in given]})
        return history

    def read(self, response, stream):
        if not stream:
            body = response.json()
            blocks = body["output"]["message"]["content"]
            for block in blocks:
                if "toolUse" in block:
                    block["toolUse"]["raw"] = json.dumps(block["toolUse"]["input"], separators=(",", ":"))
            return self._read(blocks, body["stopReason"], body.get("usage") or {})
        events = self.events(response)
        kinds = [name for event in events for name in event]
        assert (kinds[0], kinds[-2:]) == ("messageStart", ["messageStop", "metadata"])
        blocks = {}
        for event in events:
            ((kind, data),) = event.items()
            if kind == "contentBlockStart":
                blocks[data["contentBlockIndex"]] = {"toolUse": {**data["start"]["toolUse"], "raw": ""}}
            elif kind == "contentBlockDelta":
                self._grow(blocks.setdefault(data["contentBlockIndex"], {}), data["delta"])
        finish = events[-2]["messageStop"]["stopReason"]
        return self._read(blocks.values(), finish, events[-1]["metadata"].get("usage", {}))

    def _grow(self, block, delta):
        ((kind, piece),) = delta.items()
        if kind == "text":
            block["text"] = block.get("text", "") + piece
        elif kind == "toolUse":
            use = block["toolUse"]
            use["raw"] = None if piece["input"] is None else use["raw"] + piece["input"]
        else:
            told = block.setdefault("reasoningContent", {"reasoningText": {"text": "", "signature": ""}})
            for name, text in piece.items():
                told["reasoningText"][name] += text

    def _read(self, blocks, finish, usage):
        blocks = list(blocks)
        counts = (usage.get("inputTokens"), usage.get("outputTokens"))
        uses = [block["toolUse"] for block in blocks if "toolUse" in block]
        thoughts = [block["reasoningContent"]["reasoningText"] for block in blocks if "reasoningContent" in block]
        return {
            "text": "".join(block.get("text", "") for block in blocks),
            "reasoning": "".join(one["text"] for one in thoughts),
            "calls": [
                {"id": one["toolUseId"], "name": one["name"], "raw": "{}" if one["raw"] == "" else one["raw"]}
                for one in uses
            ],
            "finish": finish,
            "usage": counts,
        }


class BedrockInvokeClient(AmazonClient, AnthropicClient):
    name = "bedrock_invoke"
    methods = ("invoke", "invoke-with-response-stream")

    def request(self, text="hello", *, stream=False, model="", **options):
        body = super().request(text, **options)
        del body["model"]
        return {"anthropic_version": "bedrock-2023-05-31", **body}

    def events(self, response):
        found = []
        for event in super().events(response):
            chunk = event.get("chunk")
            found.append(json.loads(base64.b64decode(chunk["bytes"])) if chunk else event)
        return found
