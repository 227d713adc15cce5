/** Characters that change the direction of the text around them: embeddings, overrides, isolates, and what ends them. */
const controls = /[\u202a-\u202e\u2066-\u2069]/;

/** Whether a text could change the direction of what stands beside it. Names must not. */
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
 * The same text, made so that it ends what it begins and nothing else: it cannot change the direction of what stands
 * beside it, also where it is put into a sentence. A text without such characters comes back as it is.
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
    // A line end closes everything that was open.
    if (character === '\n' || character === '\u2029') {
      balanced += open.toReversed().join('');
      open.length = 0;
    }
    balanced += character;
  }
  return firstStrongIsolate + balanced + open.toReversed().join('') + popIsolate;
}
