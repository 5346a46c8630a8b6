// Runs Ollama's own Node client against a server, and prints one line of JSON; test_ollama.py asserts it.
// Argument: the server's address.
import { Ollama } from 'ollama';

const client = new Ollama({ host: process.argv[2] });
const model = 'tiny';
const messages = [{ role: 'user', content: 'hello' }];
const options = { temperature: 0 };

const texts = [];
for await (const part of await client.chat({ model, messages, options, stream: true })) texts.push(part.message.content);

console.log(
  JSON.stringify({
    models: (await client.list()).models.map((listed) => listed.model),
    chat: (await client.chat({ model, messages, options })).message.content,
    stream: texts.join(''),
    parts: texts.length,
    generate: (await client.generate({ model, prompt: 'hello', options })).response,
    error: await client.chat({ model: 'llama9', messages }).catch((error) => [error.status_code, error.message]),
  }),
);
