// Carries plotly.js, packed, from the kernel to the page. It is never displayed: its state comes
// with its creation, and the kernel closes it as soon as it hears that the page has unpacked it.
export default {
  async initialize({ model }) {
    const packed = model.get("_packed");
    if (!packed?.byteLength) return;
    unpackLibrary(model.get("_plotly_key"), packed, "pushed").then(
      () => model.send({ type: "loaded" }),
      (error) => model.send({ type: "failed", reason: String(error) }),
    );
  },
  render({ el }) {
    el.textContent = "";
  },
};
