"""What a board asks of models, over HTTP: vectors from an OpenAI-compatible endpoint, summaries from any provider."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from officellm import Context, OfficeError
from officellm.files.teamfile import load_team
from officellm.testing import FakeLLM
from officellm_team.board.services import AgentSummarizer, HttpEmbedder

WORDS = ["car", "automobile", "tide", "pool"]


class Endpoint(BaseHTTPRequestHandler):
    """Vectors by words: a car is an automobile."""

    asked: ClassVar[list[dict]]
    keys: ClassVar[list[str]]
    broken: ClassVar[str]

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append(asked)
        self.keys.append(self.headers.get("authorization", ""))
        rows = []
        for index, text in enumerate(asked["input"]):
            said = text.lower().replace("automobile", "car")
            rows.append({"index": index, "embedding": [said.count(word) + 0.01 for word in WORDS]})
        body = self.broken or json.dumps({"data": rows[::-1]})
        self.send_response(500 if self.broken == "500" else 200)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *arguments):
        pass


@pytest.fixture
def endpoint():
    Endpoint.asked, Endpoint.keys, Endpoint.broken = [], [], ""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_vectors_come_in_the_order_of_the_texts_in_batches_and_with_the_key(endpoint, monkeypatch):
    monkeypatch.setenv("EMBED_KEY", "secret")
    vectors = HttpEmbedder("m", endpoint, "EMBED_KEY").embed(["tide"] + ["car"] * 99)
    assert [vector.index(max(vector)) for vector in vectors] == [2] + [0] * 99
    assert [len(asked["input"]) for asked in Endpoint.asked] == [64, 36]
    assert set(Endpoint.keys) == {"Bearer secret"}


@pytest.mark.parametrize("broken", ["500", "[]", "no json", '{"data": []}', '{"data": [{"embedding": ["x"]}]}'])
def test_an_endpoint_that_fails_is_an_error_without_the_address(endpoint, broken):
    Endpoint.broken = broken
    with pytest.raises(OfficeError, match="the embedder 'm' failed") as caught:
        HttpEmbedder("m", endpoint).embed(["x"])
    assert "127.0.0.1" not in str(caught.value)


def test_a_summary_is_asked_of_any_provider():
    with FakeLLM.in_thread(["in short"]) as llm:
        block = {"format": "anthropic", "base_url": llm.anthropic_url}
        assert AgentSummarizer("p:m", {"p": block})("a long text") == "in short"
        (record,) = llm.requests
        assert (record.heard.wire, record.heard.last_user) == ("anthropic", "a long text")


def test_a_team_file_makes_search_hybrid_and_sums_up(endpoint, board_url, tmp_path):
    with FakeLLM.in_thread(["in short"]) as llm:
        (tmp_path / "team.yaml").write_text(
            "providers:\n"
            f"  vectors: {{format: openai_compat, base_url: '{endpoint}'}}\n"
            f"  words: {{format: openai_compat, base_url: '{llm.openai_url}'}}\n"
            "agents: [{name: a, model: 'words:m', tools: ['memory_*', 'conversation_*']}]\n"
            f"board: {{name: '{board_url}', embedder: 'vectors:e', summarizer: 'words:m'}}\n"
        )
        office = load_team(tmp_path / "team.yaml").office()

        async def go():
            async with office:
                entries = {entry.spec.name: entry for entry in (await office.ready()).get("a").toolset.entries()}
                context = Context("run", "a", "c", "k")

                async def tool(name, **arguments):
                    checked = entries[name].validate(arguments)
                    return await entries[name].catalog.call(name, checked, context)

                await tool("memory_write", type="note", title="one", content="an automobile")
                await tool("memory_write", type="note", title="two", content="a tide pool")
                found = await tool("memory_search", query="car")
                started = await tool("conversation_start", title="t")
                for _ in range(3):
                    await tool("conversation_append", conversation_id=started["id"], role="user", content="x")
                summary = await tool("conversation_summarize", conversation_id=started["id"], threshold=2)
                return found, summary

        found, summary = asyncio.run(go())
    assert (found["mode"], found["results"][0]["content"]) == ("hybrid", "an automobile")
    assert "in short" in json.dumps(summary)


class FixedVectors:
    model = "fixed"

    def embed(self, texts):
        return [[1.0, float(len(text))] for text in texts]


def test_a_real_chroma_collection_gets_and_gives_memories(board, tools, tmp_path):
    pytest.importorskip("chromadb", reason="the extra chroma is not installed")
    from officellm_team.board.services import chroma_collection

    board.helpers.embedder = FixedVectors()
    board.helpers.collection = chroma_collection("notes", url=None, path=str(tmp_path / "chroma"))
    memory = tools("memory_write", as_="ann", type="note", title="t", content="a tide pool")["id"]
    assert tools("chroma_sync", as_="ann")["pushed"] == 1
    kept = board.helpers.collection.get(ids=[memory])
    assert kept["ids"] == [memory]
    assert "a tide pool" in kept["documents"][0]
    board.helpers.collection.upsert(ids=["x-1"], documents=["from elsewhere"], embeddings=[[0.0, 1.0]])
    assert tools("chroma_sync", as_="ann", direction="from_chroma")["pulled"] == 1


def test_chroma_is_refused_without_an_embedder_and_without_its_package(tmp_path):
    from officellm import ConfigError
    from officellm_team.tools.driver import BoardSettings

    chroma = {"path": str(tmp_path / "chroma")}
    with pytest.raises(ValueError, match="chroma needs an embedder"):
        BoardSettings.model_validate({"url": "b.db", "chroma": chroma})
    with pytest.raises(ValueError, match="a url or a path"):
        BoardSettings.model_validate({"url": "b.db", "chroma": {}})
    if importlib.util.find_spec("chromadb") is None:
        embedder = {"model": "m", "base_url": "http://127.0.0.1:1/v1"}
        settings = {"url": str(tmp_path / "b.db"), "chroma": chroma, "embedder": embedder}
        with pytest.raises(ConfigError, match=r"officellm\[chroma\]"):
            BoardSettings.model_validate(settings).open()
