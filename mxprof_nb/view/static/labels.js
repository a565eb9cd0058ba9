// The names inside the bars. plotly measures every text it draws, which takes as long as all bars
// together; these are fitted before (fitting.js) and only have to be put down.

const SVG = "http://www.w3.org/2000/svg";
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };
const plainText = (text) => text.replace(/&(lt|gt|amp);/g, (entity) => ENTITIES[entity]);
const BASELINE = 0.35; // of the size of the text, below the middle of a bar

class Labels {
  constructor() {
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.setAttribute("class", "mxp-labels");
    this.svg.setAttribute("aria-hidden", "true");
    this.clear();
  }

  clear() {
    this.svg.replaceChildren();
    this.nodes = [];
    this.x = []; // in px from the begin of the plot area
  }

  // Takes the texts out of a figure, so that plotly does not draw them.
  takeFrom(figure) {
    const texts = figure.data.find((trace) => trace.mode === "text");
    figure.data = figure.data.filter((trace) => trace !== texts);
    return texts;
  }

  draw(texts, layout) {
    this.clear();
    if (!texts) return;
    const { xaxis, yaxis } = layout;
    const { size, color } = texts.textfont;
    Object.assign(this.svg.style, {
      left: `${xaxis._offset}px`,
      top: `${yaxis._offset}px`,
      width: `${xaxis._length}px`,
      height: `${yaxis._length}px`,
      fontSize: `${size}px`,
      fontFamily: layout.font.family,
    });
    texts.text.forEach((text, k) => {
      if (!text) return;
      const group = document.createElementNS(SVG, "g");
      const node = document.createElementNS(SVG, "text");
      group.setAttribute("class", "textpoint");
      node.setAttribute("y", yaxis.l2p(texts.y[k]) + BASELINE * size);
      node.setAttribute("fill", Array.isArray(color) ? color[k] : color);
      node.textContent = plainText(text);
      group.append(node);
      this.nodes.push({ node, time: texts.x[k] });
    });
    this.move(layout, xaxis.range.map(Number));
    this.svg.append(...this.nodes.map(({ node }) => node.parentNode));
  }

  // Puts the texts where they are in a range of the axis.
  move({ xaxis: { _length: width } }, [begin, end]) {
    this.x = this.nodes.map(({ time }) => ((time - begin) / (end - begin)) * width);
    this.slide(1, 0);
  }

  // Texts move with their bars and keep their shape.
  slide(scale, shift) {
    this.nodes.forEach(({ node }, k) => node.setAttribute("x", (this.x[k] * scale + shift).toFixed(1)));
  }
}
