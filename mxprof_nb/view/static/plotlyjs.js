// One plotly.js per page, however many timelines it shows.
//
// anywidget gives every widget a module of its own, so what they share lives on globalThis: a map
// from key (plotly version and checksum) to a promise of the library. Sources, in this order:
//   1. the page has it already;
//   2. JupyterLab's own plotly extension, when its version is the same;
//   3. the kernel pushed it, packed, just before its first timeline (loader.js);
//   4. we ask the kernel for it. It may be busy with a cell, so this comes last.

const PAGE = (globalThis.__mxprof ??= {
  id: Math.random().toString(36).slice(2),
  libraries: new Map(),
});
const PUSH_WAIT_MS = 1500;
const ASK_EVERY_MS = 30000;

function library(key) {
  let entry = PAGE.libraries.get(key);
  if (!entry) {
    entry = { plotly: null, source: "", unpacking: false, asked: -Infinity };
    entry.promise = new Promise((resolve) => (entry.resolve = resolve));
    PAGE.libraries.set(key, entry);
  }
  return entry;
}

function settle(entry, plotly, source) {
  if (!entry.plotly) {
    entry.plotly = plotly;
    entry.source = source;
    entry.resolve(plotly);
  }
  return entry.plotly;
}

function inflate(bytes, format) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format));
  return new Response(stream).arrayBuffer();
}

// Runs the packed library as a module of its own. It also sets window.Plotly; a page that had one
// of another version gets that back.
async function unpackLibrary(key, bytes, source) {
  const entry = library(key);
  if (entry.plotly || entry.unpacking) return entry.promise;
  entry.unpacking = true;
  const before = globalThis.Plotly;
  let url;
  try {
    const parts = ["const module={exports:{}};\n", await inflate(bytes, "gzip")];
    parts.push("\nexport default module.exports;");
    url = URL.createObjectURL(new Blob(parts, { type: "text/javascript" }));
    const loaded = await import(url);
    return settle(entry, loaded.default, source);
  } finally {
    if (before) globalThis.Plotly = before;
    if (url) URL.revokeObjectURL(url);
    entry.unpacking = false;
  }
}

// JupyterLab with plotly installed beside it carries the library in an extension, which sets
// window.Plotly when it first draws. Half private, so any surprise means: next source.
async function fromExtension(entry, version) {
  try {
    if (!globalThis.Plotly) {
      const extension = globalThis._JUPYTERLAB?.["jupyterlab-plotly"];
      if (!extension) return null;
      const mime = "application/vnd.plotly.v1+json";
      const made = (await extension.get("./mimeExtension"))();
      const plugin = [made.default ?? made].flat().find((part) => part.rendererFactory);
      const renderer = plugin.rendererFactory.createRenderer({ mimeType: mime });
      const host = document.createElement("div");
      host.style.cssText = "position:absolute;left:-9999px;width:200px;height:100px";
      document.body.appendChild(host);
      host.appendChild(renderer.node);
      const empty = { data: [], layout: { width: 100, height: 100 } };
      await renderer.renderModel({ data: { [mime]: empty }, metadata: {}, setData() {} });
      globalThis.Plotly?.purge(renderer.node);
      renderer.dispose();
      host.remove();
    }
    if (globalThis.Plotly?.version !== version) return null;
    return settle(entry, globalThis.Plotly, "extension");
  } catch {
    return null;
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Called by initialize, which must not wait: anywidget delivers messages only after it returned.
function listenForLibrary(model) {
  model.on("msg:custom", (content, buffers) => {
    if (content?.type === "plotlyjs") {
      unpackLibrary(content.key, buffers[0], "asked").catch((error) => console.warn(error));
    }
  });
}

// Resolves with plotly.js, whenever it comes. `alive` ends the asking when the view is gone.
async function obtainLibrary(model, alive) {
  const key = model.get("_plotly_key");
  const entry = library(key);
  if (entry.plotly) return entry.plotly;
  if (await fromExtension(entry, model.get("_plotly_version"))) return entry.plotly;
  await Promise.race([entry.promise, pause(PUSH_WAIT_MS)]);
  while (!entry.plotly && alive()) {
    if (!entry.unpacking && Date.now() - entry.asked > ASK_EVERY_MS) {
      entry.asked = Date.now();
      model.send({ type: "need", key, page: PAGE.id });
    }
    await Promise.race([entry.promise, pause(1000)]);
  }
  return entry.plotly;
}
