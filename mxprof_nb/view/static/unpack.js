// Carries the widget's module packed, and reads it once per page, whichever widget comes first.

async function read() {
  const packed = Uint8Array.from(atob("@PACKED@"), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const source = new Blob([await new Response(stream).text()], { type: "text/javascript" });
  const url = URL.createObjectURL(source);
  try {
    return (await import(url)).default;
  } finally {
    URL.revokeObjectURL(url);
  }
}

const modules = (globalThis.__mxprof_modules ??= new Map());
if (!modules.has("@KEY@")) modules.set("@KEY@", read());

// anywidget waits two seconds for a module and its `initialize`, whatever else the page does.
function later(method) {
  return (context) => {
    let end = null;
    let over = false;
    modules.get("@KEY@").then((found) => {
      if (!over) end = found[method](context);
    });
    return () => {
      over = true;
      end?.();
    };
  };
}

export default { initialize: later("initialize"), render: later("render") };
