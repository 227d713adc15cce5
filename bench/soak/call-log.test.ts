import { expect, test } from 'vitest';
import { type HandlerCall, judgeCalls } from './call-log.ts';

/**
 * Parses calls such as `install 1.0`, which run one after the other. `install 1.0!` was killed, and `install 1.0+`
 * overlaps with the next call.
 */
function callsOf(...lines: string[]): HandlerCall[] {
  return lines.map((line, index) => {
    const [, command = '', version = '', how = ''] = /^(\w+) ([\d.]+)([!+]?)$/.exec(line) ?? [];
    const begun = BigInt(index) * 1000n;
    const ended = how === '!' ? null : begun + (how === '+' ? 1500n : 500n);
    return { handler: 'Lab.Probe', version, command, sequenceNumber: 1, begun, ended };
  });
}

test.each<[string, string[], string[]]>([
  ['a whole life', ['install 1.0', 'enable 1.0', 'enable 1.0', 'disable 1.0', 'uninstall 1.0', 'install 1.0'], []],
  ['an update', ['install 1.0', 'enable 1.0', 'disable 1.0', 'update 1.1', 'uninstall 1.0', 'enable 1.1'], []],
  ['ended by force and again', ['install 1.0!', 'install 1.0', 'enable 1.0'], []],
  ['installed twice', ['install 1.0', 'install 1.0'], ['install 1 of Lab.Probe 1.0: 1.0 is installed']],
  ['enabled before it is there', ['enable 1.0'], ['enable 1 of Lab.Probe 1.0: it is not installed']],
  [
    'updated while the old one runs',
    ['install 1.0', 'enable 1.0', 'update 1.1'],
    ['update 1 of Lab.Probe 1.1: 1.0 runs'],
  ],
  ['updated downwards', ['install 1.10', 'update 1.9'], ['update 1 of Lab.Probe 1.9: 1.10 is not older']],
  [
    'enabled beside the old one',
    ['install 1.0', 'update 1.1', 'enable 1.1'],
    ['enable 1 of Lab.Probe 1.1: 1.0 is installed too'],
  ],
  [
    'uninstalled while it runs',
    ['install 1.0', 'enable 1.0', 'uninstall 1.0'],
    ['uninstall 1 of Lab.Probe 1.0: it runs'],
  ],
  [
    'two at once',
    ['install 1.0+', 'enable 1.0'],
    ['enable 1 of Lab.Probe 1.0 began before install 1 of Lab.Probe 1.0 ended'],
  ],
])('%s', (_, lines, faults) => {
  expect(judgeCalls(callsOf(...lines)).faults).toEqual(faults);
});
