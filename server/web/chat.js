// The chat at /. Texts of the server become text nodes only; the key stays in a variable.
const $ = (id) => document.getElementById(id);
const make = (name, text = "", className = "") => Object.assign(document.createElement(name), { textContent: text, className });

let key = "";
let server;
let models = [];
let messages = [];
let images = [];
let pending = new Map(); // tool calls without a result, by ID
let running = null;

const say = (text) => { $("status").textContent = text; };
const headers = () => (key ? { Authorization: `Bearer ${key}` } : {});
const chosen = () => models.find((model) => model.id === $("model").value);

class Refused extends Error {}

/** The response, after the key was asked for if the server wants one. */
const ask = async (path, options = {}) => {
  for (;;) {
    const response = await fetch(path, { ...options, cache: "no-store", headers: { ...options.headers, ...headers() } });
    if (response.ok) return response;
    const text = await response.text();
    let message = text.slice(0, 1000);
    try {
      const body = JSON.parse(text);
      message = body.error?.message ?? body.message ?? message;
    } catch { /* not JSON */ }
    if (response.status !== 401 || !(await unlock(key && message))) throw new Refused(`${response.status}: ${message}`);
  }
};

const unlock = (why) => new Promise((resolve) => {
  if (why) $("why").textContent = why;
  $("key").value = "";
  $("door").returnValue = "";
  $("door").onclose = () => {
    key = $("key").value.trim();
    $("key").value = "";
    resolve(Boolean(key));
  };
  $("door").oncancel = () => { $("key").value = ""; };
  $("door").showModal();
});

/** Shows a text with its code, and nothing else of Markdown but bold, as text nodes. */
const show = (text, into) => {
  into.replaceChildren();
  text.split(/^ *```/m).forEach((part, index) => {
    if (index % 2) {
      const block = make("pre");
      block.tabIndex = 0;
      block.append(make("code", part.replace(/^.*\n/, "").trimEnd()));
      into.append(block);
      return;
    }
    for (const piece of part.replace(index ? /^\n+/ : /^\s+/, "").split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/)) {
      if (/^`.+`$/.test(piece)) into.append(make("code", piece.slice(1, -1)));
      else if (/^\*\*.+\*\*$/.test(piece)) into.append(make("strong", piece.slice(2, -2)));
      else into.append(piece);
    }
  });
};

const article = (role, title) => {
  const element = make("article", "", role);
  element.append(make("h2", title));
  $("log").append(element);
  return element;
};

const showUser = (text) => {
  const element = article("user", "You");
  const said = make("div", text, "said");
  element.append(said);
  for (const { url, name } of images) element.append(Object.assign(make("img"), { src: url, alt: name }));
};

const follow = () => {
  const page = document.documentElement;
  const isAtEnd = page.scrollHeight - innerHeight - scrollY < 160;
  return () => isAtEnd && scrollTo(0, page.scrollHeight);
};

/** Yields the objects of a stream of server-sent events. */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    const lines = (rest + (value ?? "")).split(/\r?\n/);
    rest = done ? "" : lines.pop();
    for (const line of lines) {
      const data = line.startsWith("data:") ? line.slice(5).trim() : "";
      if (data && data !== "[DONE]") yield JSON.parse(data);
    }
    if (done) return;
  }
}

/** The view of an answer that grows; `add` takes a chunk. */
const answerView = (model) => {
  const element = article("assistant", model);
  element.setAttribute("aria-busy", "true");
  const [thoughts, said] = [make("details"), make("div", "", "said")];
  const reasoning = make("div", "", "said");
  thoughts.append(make("summary", "Reasoning"), reasoning);
  thoughts.hidden = true;
  element.append(thoughts, said);
  const answer = { content: "", reasoning: "", calls: [], usage: null, finish: "" };
  const boxes = [];
  let frame = 0;
  const draw = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    const keep = follow();
    thoughts.hidden = !answer.reasoning;
    show(answer.reasoning, reasoning);
    show(answer.content, said);
    answer.calls.forEach((call, index) => {
      if (!boxes[index]) {
        boxes[index] = make("div", "", "call");
        element.append(boxes[index]);
      }
      const shown = make("pre", call.function.arguments);
      shown.tabIndex = 0;
      boxes[index].replaceChildren(make("strong", `Tool call: ${call.function.name}`), shown);
    });
    keep();
  };
  const add = (chunk) => {
    answer.usage = chunk.usage ?? answer.usage;
    const choice = chunk.choices?.[0];
    if (!choice) return;
    const delta = choice.delta ?? {};
    answer.content += delta.content ?? delta.refusal ?? "";
    answer.reasoning += delta.reasoning_content ?? delta.reasoning ?? "";
    answer.finish = choice.finish_reason ?? answer.finish;
    for (const part of delta.tool_calls ?? []) {
      const call = (answer.calls[part.index ?? 0] ??= { id: "", type: "function", function: { name: "", arguments: "" } });
      call.id = part.id || call.id;
      call.function.name += part.function?.name ?? "";
      call.function.arguments += part.function?.arguments ?? "";
    }
    frame ||= requestAnimationFrame(draw);
  };
  const end = (figures) => {
    draw();
    const keep = follow();
    element.removeAttribute("aria-busy");
    if (figures) element.append(make("p", figures, "figures"));
    answer.calls.forEach((call, index) => takeResult(call, boxes[index]));
    keep();
  };
  return { answer, add, end, element };
};

/** Asks for the result of a tool call; with the last one, the conversation goes on. */
const takeResult = (call, box) => {
  const form = make("form");
  const label = make("label", "Result of the tool");
  const text = Object.assign(make("textarea"), { rows: 2 });
  label.append(text);
  form.append(label, make("button", "Give the result"));
  form.onsubmit = (event) => {
    event.preventDefault();
    form.replaceWith(make("pre", text.value));
    pending.delete(call.id);
    messages.push({ role: "tool", tool_call_id: call.id, content: text.value });
    if (pending.size === 0) answer();
  };
  pending.set(call.id, text);
  box.append(form);
};

const parameters = () => {
  const fields = {};
  for (const input of document.querySelectorAll("[data-field]")) {
    if (!input.reportValidity()) throw new Refused(`${input.dataset.field} isn't valid`);
    if (input.value !== "") fields[input.dataset.field] = Number(input.value);
  }
  const more = $("more").value.trim();
  if (!more) return fields;
  let read = null;
  try { read = JSON.parse(more); } catch { /* reported below */ }
  if (read === null || typeof read !== "object" || Array.isArray(read)) throw new Refused("Other fields: not a JSON object");
  return { ...fields, ...read };
};

const figuresOf = ({ usage, finish }, began, first) => {
  if (!usage) return finish === "length" ? "Cut off: the limit of tokens is reached." : "";
  const count = usage.completion_tokens;
  const seconds = (performance.now() - (first ?? began)) / 1000;
  const rate = first && count > 1 ? `, ${((count - 1) / seconds).toFixed(1)} tokens/s` : "";
  const until = first ? `, first after ${((first - began) / 1000).toFixed(2)} s` : "";
  return `${usage.prompt_tokens} + ${count} tokens${until}${rate}${finish === "length" ? ", cut off" : ""}`;
};

const answer = async () => {
  let view;
  const conversation = messages; // "New chat" begins another one
  running = new AbortController();
  $("send").hidden = true;
  $("stop").hidden = false;
  say("Answering …");
  try {
    const system = $("system").value.trim();
    const body = {
      model: $("model").value,
      messages: [...(system ? [{ role: "system", content: system }] : []), ...messages],
      stream: true,
      stream_options: { include_usage: true },
      ...parameters(),
    };
    const began = performance.now();
    let first = null;
    const response = await ask(`${server.base_url}/chat/completions`, {
      method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" }, signal: running.signal,
    });
    view = answerView(body.model);
    for await (const event of events(response)) {
      if (event.error) throw new Refused(event.error.message ?? JSON.stringify(event.error));
      if (event.choices?.length && first === null) first = performance.now();
      view.add(event);
    }
    const { content, calls } = view.answer;
    conversation.push({ role: "assistant", content, ...(calls.length ? { tool_calls: calls } : {}) });
    view.end(figuresOf(view.answer, began, first));
    say(calls.length ? "The model calls a tool; give its result." : "The answer is complete.");
  } catch (error) {
    const stopped = error.name === "AbortError";
    if (view) {
      view.answer.calls = []; // incomplete ones can't be answered
      if (view.answer.content) conversation.push({ role: "assistant", content: view.answer.content });
      view.end(stopped ? "Stopped." : "");
    }
    // Every later request would have it, too: an image that the model can't read, a prompt that is too long.
    if (!view?.answer.content && conversation.at(-1)?.role === "user") conversation.pop();
    if (!stopped) (view?.element ?? article("assistant", "Error")).append(make("p", error.message, "fault"));
    if (conversation === messages) say(stopped ? "Stopped." : "The request failed.");
  }
  running = null;
  $("send").hidden = false;
  $("stop").hidden = true;
  $("text").focus();
};

const send = () => {
  const text = $("text").value.trim();
  if (running || (!text && !images.length)) return;
  if (pending.size) {
    say("Give the results of the tool calls first.");
    pending.values().next().value.focus();
    return;
  }
  showUser(text);
  const parts = images.map(({ url }) => ({ type: "image_url", image_url: { url } }));
  messages.push({ role: "user", content: parts.length ? [...parts, { type: "text", text }] : text });
  images = [];
  showImages();
  $("text").value = "";
  scrollTo(0, document.documentElement.scrollHeight);
  answer();
};

const showImages = () => {
  $("images").replaceChildren(...images.map((image) => {
    const item = make("li");
    const remove = make("button", "Remove");
    remove.type = "button";
    remove.setAttribute("aria-label", `Remove ${image.name}`);
    remove.onclick = () => {
      images = images.filter((other) => other !== image);
      showImages();
      $("text").focus();
    };
    item.append(Object.assign(make("img"), { src: image.url, alt: image.name }), remove);
    return item;
  }));
};

const readFile = (file) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve({ url: reader.result, name: file.name });
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(file);
});

const attach = async (files) => {
  if ($("attach").hidden) return;
  images.push(...(await Promise.all([...files].filter((file) => file.type.startsWith("image/")).map(readFile))));
  showImages();
};

const describe = () => {
  const model = chosen() ?? {};
  const most = model.context_length ?? model.max_model_len ?? model.meta?.n_ctx;
  const abilities = model.capabilities ?? model.architecture?.input_modalities;
  $("facts").textContent = [most ? `${most.toLocaleString("en")} tokens of context` : "", (model.capabilities ?? []).join(", ")]
    .filter(Boolean).join("; ");
  // Systems that don't state what a model can do answer with an error if it takes no images.
  $("attach").hidden = Boolean(abilities) && !abilities.some((name) => name === "vision" || name === "image");
};

const open = async (event) => {
  // A link sends no key, so the page asks, and shows what it got.
  if (!key) return;
  event.preventDefault();
  try {
    const text = await (await ask(event.target.href)).text();
    window.open(URL.createObjectURL(new Blob([text], { type: "text/plain" })));
  } catch (error) { say(error.message); }
};

const start = async () => {
  server = await (await fetch("./", { headers: { Accept: "application/json" }, cache: "no-store" })).json();
  $("base").textContent = new URL(server.base_url, location.href).href;
  const links = { docs: "API reference", metrics: "Metrics", openapi: "Document" };
  for (const [name, title] of Object.entries(links)) {
    if (!server[name]) continue;
    const link = Object.assign(make("a", title), { href: server[name] });
    if (name === "metrics") link.onclick = open;
    $("links").append(link);
  }
  if (server.key_required) await unlock("");
  // While a model loads, its entry has no figures yet.
  while ((await fetch("health", { cache: "no-store" })).status === 503) {
    say("The model is loading …");
    await new Promise((resolve) => { setTimeout(resolve, 2000); });
  }
  models = (await (await ask(`${server.base_url}/models`)).json()).data ?? [];
  $("model").replaceChildren(...models.map(({ id }) => make("option", id)));
  describe();
  say("");
  $("text").focus();
};

$("composer").onsubmit = (event) => { event.preventDefault(); send(); };
$("text").onkeydown = (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); send(); }
};
$("text").onpaste = (event) => { if (event.clipboardData.files.length) attach(event.clipboardData.files); };
$("files").onchange = () => { attach($("files").files); $("files").value = ""; };
$("stop").onclick = () => running?.abort();
$("fresh").onclick = () => {
  running?.abort();
  [messages, images, pending] = [[], [], new Map()];
  showImages();
  $("log").replaceChildren();
  say("");
  $("text").focus();
};
$("copy").hidden = !navigator.clipboard; // browsers have it at HTTPS and at localhost only
$("copy").onclick = async () => { await navigator.clipboard.writeText($("base").textContent); say("Copied."); };
$("model").onchange = describe;
$("example").onclick = () => {
  const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const tool = { type: "function", function: { name: "get_weather", description: "The weather in a city.", parameters } };
  $("more").value = JSON.stringify({ tools: [tool] }, null, 1);
};
start().catch((error) => say(`The server can't be used: ${error.message}`));
