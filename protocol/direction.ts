/** Characters that change the direction of surrounding text: embeddings, overrides, isolates, and their terminators. */
const controls = /[\u202a-\u202e\u2066-\u2069]/;

/** Whether a text contains characters that change the direction of surrounding text. Names must not contain them. */
export function changesDirection(text: string): boolean {
  return controls.test(text);
}

const popEmbedding = '\u202c';
const popIsolate = '\u2069';
const firstStrongIsolate = '\u2068';
const closerOf: Readonly<Record<string, string>> = {
  '\u202a': popEmbedding,
  '\u202b': popEmbedding,
  '\u202d': popEmbedding,
  '\u202e': popEmbedding,
  '\u2066': popIsolate,
  '\u2067': popIsolate,
  '\u2068': popIsolate,
};

/**
 * Isolates a text that contains direction changes, so that it cannot affect the sentence around it. Returns any other
 * text unchanged.
 */
export function isolateText(text: string): string {
  if (!changesDirection(text)) return text;
  const open: string[] = [];
  let balanced = '';
  for (const character of text) {
    const closer = closerOf[character];
    if (closer !== undefined) open.push(closer);
    if (character === popEmbedding || character === popIsolate) {
      if (open.at(-1) !== character) continue;
      open.pop();
    }
    // The end of a line closes every direction change.
    if (character === '\n' || character === '\u2029') {
      balanced += open.toReversed().join('');
      open.length = 0;
    }
    balanced += character;
  }
  return firstStrongIsolate + balanced + open.toReversed().join('') + popIsolate;
}
