import { printed, type Tool, type ToolCall, textIn, WrongUse } from './tool.ts';

/** `-` instead of a key means all keys. */
const keyOf = (word: string | undefined): string => (word === '-' ? '' : (word ?? ''));

function atMost(words: string[], count: number): void {
  if (words.length > count) throw new WrongUse(`There are too many arguments: ${words.slice(count).join(' ')}.`);
}

export const relationGet: Tool = {
  usage: 'relation-get [KEY|-] [UNIT]',
  async run({ words, environment, isJson, send }) {
    atMost(words, 2);
    const key = keyOf(words[0]);
    const unit = words[1] ?? environment.ENSEMBLE_REMOTE_UNIT ?? '';
    if (unit === '') throw new WrongUse('This hook has no remote unit. Give a unit after the key.');
    return printed(textIn(await send('get', { unit_name: unit, setting_name: key }), 'value'), isJson || key === '');
  },
};

export const relationList: Tool = {
  usage: 'relation-list',
  async run({ words, isJson, send }) {
    atMost(words, 0);
    const units = textIn(await send('list_relations', {}), 'members')
      .split(' ')
      .filter((unit) => unit !== '');
    return isJson ? `${JSON.stringify(units)}\n` : units.map((unit) => `${unit}\n`).join('');
  },
};

export const configGet: Tool = {
  usage: 'config-get [KEY|-]',
  async run({ words, isJson, send }) {
    atMost(words, 1);
    const key = keyOf(words[0]);
    return printed(textIn(await send('config_get', { option_name: key }), 'value'), isJson || key === '');
  },
};

export const unitGet: Tool = {
  usage: 'unit-get private-address|public-address',
  async run({ words, isJson, send }) {
    atMost(words, 1);
    const [name] = words;
    if (name === undefined) throw new WrongUse('Name an address.');
    const value = textIn(await send('unit_get', { setting_name: name }), 'value');
    return `${isJson ? JSON.stringify(value) : value}\n`;
  },
};

/** Creates `open-port` or `close-port`. */
export function portTool(name: string, command: string): Tool {
  return {
    usage: `${name} PORT[/tcp|/udp]`,
    async run({ words, send }: ToolCall) {
      atMost(words, 1);
      const [word] = words;
      if (word === undefined) throw new WrongUse('Name a port.');
      const slash = word.indexOf('/');
      const port = slash < 0 ? word : word.slice(0, slash);
      await send(command, { port, proto: slash < 0 ? 'tcp' : word.slice(slash + 1) });
      return '';
    },
  };
}
