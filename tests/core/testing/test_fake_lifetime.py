"""The fake LLM server as a process neighbour: threads, ports, clients that leave."""

import asyncio

import httpx
import pytest

from officellm.errors import ConfigError
from officellm.testing import SPEAKERS, Answer, FakeLLM, Heard, Said, Speaker, reply


def test_in_a_thread_it_serves_clients_that_are_not_async(wire):
    with FakeLLM.in_thread(["hi"], models=["m"]) as llm:
        response = httpx.post(wire.address(llm), json=wire.request(), headers=wire.headers())
        url = llm.url
    assert wire.read(response, stream=False)["text"] == "hi"
    assert len(llm.requests) == 1
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/requests")


async def test_a_port_that_is_taken_is_a_config_error_that_names_it():
    async with FakeLLM(["x"]) as llm:
        with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{llm.port}"):
            async with FakeLLM(["x"], port=llm.port):
                pass


def test_a_thread_that_cannot_listen_raises_in_the_caller():
    with FakeLLM.in_thread(["x"]) as llm, pytest.raises(ConfigError), FakeLLM.in_thread(["x"], port=llm.port):
        pass


async def test_a_client_that_leaves_early_is_noticed(wires):
    async with FakeLLM([reply("x", latency=5)]) as llm:
        async with httpx.AsyncClient(timeout=0.05) as impatient:
            with pytest.raises(httpx.ReadTimeout):
                await impatient.post(wires["openai"].address(llm), json=wires["openai"].request())
        for _ in range(100):
            if llm.requests[0].outcome != "open":
                break
            await asyncio.sleep(0.01)
        assert llm.requests[0].outcome == "left"


class EchoSpeaker:
    """A wire of a package of its own: one line of text in, one line of text out."""

    name = "echo"

    def listens_to(self, path):
        return path == "/echo"

    def hear(self, path, query, headers, body):
        said = (Said("user", body["text"]),)
        return Heard(wire=self.name, model="", stream=False, system="", said=said, tools=(), body=body)

    def complain(self, heard):
        return None

    def say(self, heard, reply):
        return Answer((reply.text.encode(),), "text/plain")

    def refuse(self, trouble):
        return Answer((trouble.message.encode(),), "text/plain", trouble.status)

    def refuse_in_200(self, heard, trouble):
        return Answer((trouble.message.encode(),), "text/plain")

    def key(self, headers, query):
        return None

    def list_models(self, path, headers, models):
        return None


async def test_another_wire_can_be_added(http):
    assert isinstance(EchoSpeaker(), Speaker)
    async with FakeLLM(["you said {task}"], speakers=[*SPEAKERS, EchoSpeaker()]) as llm:
        response = await http.post(f"{llm.url}/echo", json={"text": "hi"})
        assert llm.requests[0].wire == "echo"
    assert response.text == "you said hi"
