/** Longest control sequence that is recognized. If a sequence is longer, only its first character is removed. */
const longest = 200;

const esc = '\u001b';
/** CSI, OSC and the other strings up to their end, and escapes of two or three characters. */
const sequences = new RegExp(
  [
    `${esc}\\[[0-9:;<=>?]{0,${longest}}[ -/]{0,8}[@-~]`,
    `${esc}[\\]PX^_][^\\u0007\\u001b]{0,4096}(?:\\u0007|${esc}\\\\)`,
    `${esc}[ -/]{0,3}[0-~]`,
  ].join('|'),
  'g',
);
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Direction marks could make a line look different from its contents, so they are shown as escapes. */
const directions = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Returns a line of output as a terminal would finally show it, without colors and other control sequences. A carriage
 * return overwrites what was written before it.
 */
export function terminalText(line: string): string {
  const plain = line.replace(sequences, '');
  return lastWritten(plain)
    .replace(controls, '')
    .replace(directions, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns the text after carriage returns, which overwrite only as many characters as follow them. */
function lastWritten(line: string): string {
  if (!line.includes('\r')) return line;
  return line
    .replace(/\r+$/, '')
    .split('\r')
    .reduce((shown, part) => part + shown.slice(part.length));
}
