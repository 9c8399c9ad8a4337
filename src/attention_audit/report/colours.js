// The colour scale of all pages; RAMPS stands before.

// The colour of a place on the scale, 0 to 1.
function between(ramp, share) {
  const place = share * (ramp.length - 1);
  const start = Math.min(ramp.length - 2, Math.floor(place));
  const mixed = (from, to) => Math.round(from + (place - start) * (to - from));
  return ramp[start].map((from, n) => mixed(from, ramp[start + 1][n]));
}

// Black or white, whichever has the higher contrast (WCAG's relative luminance).
function inkOn(colour) {
  const [red, green, blue] = colour.map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}
