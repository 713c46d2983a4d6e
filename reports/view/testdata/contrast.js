(() => {
  const parse = colour => {
    const rgb = colour.match(/^rgba?\(([^)]*)\)$/);
    if (rgb) {
      const v = rgb[1].split(/[\s,/]+/).map(Number);
      return [v[0], v[1], v[2], v.length > 3 ? v[3] : 1];
    }
    const srgb = colour.match(/^color\(srgb ([^)]*)\)$/);
    const v = srgb[1].split(/[\s/]+/).map(Number);
    return [v[0] * 255, v[1] * 255, v[2] * 255, v.length > 3 ? v[3] : 1];
  };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const luminance = c => {
    const [r, g, b] = c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = element => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      layers.push(parse(getComputedStyle(e).backgroundColor));
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const seen = new Map();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = texts.nextNode());) {
    const element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility({contentVisibilityAuto: false}) || element.closest(".sr, style")) continue;
    const style = getComputedStyle(element);
    const inSVG = element.closest("svg");
    const back = behind(inSVG ? inSVG.parentElement : element);
    const ink = over(parse(inSVG ? style.fill : style.color), back);
    const key = ink.map(Math.round) + "|" + back.map(Math.round);
    if (!seen.has(key)) {
      const [a, b] = [luminance(ink), luminance(back)];
      seen.set(key, {ratio: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), text: node.data.trim().slice(0, 40), of: element.tagName + "." + element.className});
    }
  }
  const all = [...seen.values()];
  return {compared: all.length, low: all.filter(c => !(c.ratio >= 4.5)).map(c => c.of + " " + JSON.stringify(c.text) + " " + c.ratio.toFixed(2))};
})()
