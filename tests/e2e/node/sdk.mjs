// Runs the official Node SDK against a server and prints one line of JSON per check; test_node_sdk.py asserts them.
// Arguments: the base URL of the default model's server and the one of the scripted engine's, which holds a key.
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';

const [defaultURL, scriptedURL, key] = process.argv.slice(2);
const model = 'smollm2';
const messages = [{ role: 'user', content: 'What is the capital of France?' }];
const chat = { model, messages, temperature: 0 };
const completion = { model, prompt: 'The capital of France is', temperature: 0, max_tokens: 8 };
const response = { model, input: messages[0].content, temperature: 0 };

const client = new OpenAI({ baseURL: defaultURL, apiKey: 'none', maxRetries: 0 });
const scripted = new OpenAI({ baseURL: scriptedURL, apiKey: key, maxRetries: 0 });
const script = (directives) => ({
  model: 'm',
  messages: [{ role: 'user', content: `script: ${directives}\none two` }],
  temperature: 0,
});

const collect = async (stream) => {
  const found = [];
  for await (const event of await stream) found.push(event);
  return found;
};

/** What an error tells, by the class that the SDK chose. */
const refused = async (promise) => {
  try {
    await promise;
  } catch (error) {
    const { status, code, param, type } = error;
    return { class: error.constructor.name, status, code, param, type };
  }
  throw new Error('there was no error');
};

const checks = {
  async chat() {
    const answer = await client.chat.completions.create(chat);
    return { id: answer.id, text: answer.choices[0].message.content, finish: answer.choices[0].finish_reason };
  },
  async chat_stream() {
    const chunks = await collect(
      client.chat.completions.create({ ...chat, stream: true, stream_options: { include_usage: true } }),
    );
    return {
      role: chunks[0].choices[0].delta.role,
      text: chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''),
      finish: chunks.at(-2).choices[0].finish_reason,
      usage: chunks.at(-1).usage,
    };
  },
  async chat_stream_helper() {
    const stream = client.chat.completions.stream(chat);
    let text = '';
    stream.on('content', (delta) => (text += delta));
    const final = await stream.finalChatCompletion();
    return { text, final: final.choices[0].message.content, finish: final.choices[0].finish_reason };
  },
  async completions() {
    const answer = await client.completions.create(completion);
    return { id: answer.id, text: answer.choices[0].text, finish: answer.choices[0].finish_reason };
  },
  async completions_stream() {
    const chunks = await collect(client.completions.create({ ...completion, stream: true }));
    return {
      text: chunks.map((chunk) => chunk.choices[0].text).join(''),
      finish: chunks.at(-1).choices[0].finish_reason,
    };
  },
  async responses() {
    const answer = await client.responses.create(response);
    return { id: answer.id, text: answer.output_text, status: answer.status };
  },
  async responses_stream() {
    const events = await collect(client.responses.create({ ...response, stream: true }));
    const final = events.at(-1).response;
    return {
      types: events.map((event) => event.type),
      numbers: events.map((event) => event.sequence_number),
      text: events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join(''),
      final: final.output.flatMap((item) => item.content.map((part) => part.text)).join(''),
      status: final.status,
    };
  },
  async responses_stream_helper() {
    const stream = client.responses.stream(response);
    let text = '';
    stream.on('response.output_text.delta', (event) => (text += event.delta));
    const final = await stream.finalResponse();
    return { text, final: final.output_text, status: final.status };
  },
  async models() {
    const listed = await collect(client.models.list());
    const one = await client.models.retrieve(model);
    return { listed: listed.map((entry) => entry.id), owner: one.owned_by };
  },
  async responses_socket() {
    const socket = new ResponsesWS(client);
    const answer = (fields) =>
      new Promise((resolve, reject) => {
        socket.once('response.completed', (event) => resolve(event.response));
        socket.once('error', (error) => reject(error));
        socket.send({ type: 'response.create', ...response, store: false, ...fields });
      });
    const first = await answer({});
    const second = await answer({ previous_response_id: first.id, max_output_tokens: 1000 });
    const code = await answer({ previous_response_id: 'resp_1' }).catch((error) => JSON.parse(error.message).error.code);
    socket.close();
    return { text: first.output[0].content[0].text, grows: second.usage.input_tokens > first.usage.input_tokens, code };
  },
  unknown_model: () => refused(client.chat.completions.create({ ...chat, model: 'gpt-9' })),
  unknown_model_of_completions: () => refused(client.completions.create({ ...completion, model: 'gpt-9' })),
  unknown_model_of_responses: () => refused(client.responses.create({ ...response, model: 'gpt-9' })),
  out_of_range: () => refused(client.chat.completions.create({ ...chat, temperature: 3 })),
  out_of_range_of_completions: () => refused(client.completions.create({ ...completion, temperature: 3 })),
  out_of_range_of_responses: () => refused(client.responses.create({ ...response, temperature: 3 })),
  wrong_key: () => refused(scripted.withOptions({ apiKey: 'wrong' }).models.list()),
  not_ready: () => refused(scripted.chat.completions.create(script('unavailable=1'))),
  lost_in_stream: () => refused(collect(scripted.chat.completions.create({ ...script('crash_at=1'), stream: true }))),
  timeout: () => refused(scripted.chat.completions.create(script('stall_at=0'), { timeout: 200 })),
  async aborted() {
    const stream = await scripted.chat.completions.create({ ...script('stall_at=1'), stream: true });
    for await (const chunk of stream) if (chunk.choices[0].delta.content) stream.controller.abort();
    const after = await scripted.chat.completions.create(script(''));
    return { text: after.choices[0].message.content };
  },
};

for (const [check, run] of Object.entries(checks)) {
  let line;
  try {
    line = { check, found: await run() };
  } catch (error) {
    line = { check, failed: String(error) };
  }
  console.log(JSON.stringify(line));
}
