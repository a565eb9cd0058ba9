// Carries the code of the timelines, packed, and reads it once per page, whichever comes first.

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

const codes = (globalThis.__mxprof_codes ??= new Map());
if (!codes.has("@KEY@")) codes.set("@KEY@", read());

export default {};
