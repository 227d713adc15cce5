import { type Tool, WrongUse } from './tool.ts';

export const ensembleLog: Tool = {
  usage: 'ensemble-log [-l LEVEL] [--id ID [--param P]…] [TEXT…]',
  options: {
    level: { type: 'string', short: 'l', default: 'INFO' },
    id: { type: 'string' },
    param: { type: 'string', multiple: true },
  },
  async run({ words, options, readInput, send }) {
    const { level, id, param: params } = options;
    if (params !== undefined && id === undefined) throw new WrongUse('--param needs --id.');
    const messages = words.length > 0 || id !== undefined ? [words.join(' ')] : linesOf(await readInput());
    for (const message of messages) {
      await send('log', {
        ...{ level: String(level).toUpperCase(), message },
        ...(id !== undefined && { id: String(id), params: JSON.stringify(params ?? []) }),
      });
    }
    return '';
  },
};

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
