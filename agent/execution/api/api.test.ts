import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PlanMachine, planMachine } from '../../testing/plan-run.ts';
import { agentVersion } from '../../version.ts';

let machine: PlanMachine;
beforeAll(async () => {
  machine = await planMachine();
});
afterAll(() => machine.close());

const failure = (Type: string, code = 1) => ({ code, body: { Type } });

describe('api', () => {
  test('MU-13 logs go to the journal and, with notify, to the transcript', async () => {
    const { rows, journal } = await machine.body(
      `api.logDebug('a')
api.logInfo({'b': 1})
api.logWarning('c', notify=False)
try:
  1/0
except ZeroDivisionError:
  api.logError('d', exception_info=True)
  api.logFatalError('e')`,
      { Name: 'Logs', ID: 'the-plan' },
    );
    const logs = rows.filter(([, kind]) => kind === 'log').map(([, , message]) => message);
    expect(logs).toMatchObject([
      { Level: 'debug', Body: 'a', SourceID: 'the-plan', Action: 'log', FormatVersion: '2.0.0' },
      { Level: 'info', Body: '{"b": 1}' },
      { Level: 'error', Body: 'd', except: { type: 'ZeroDivisionError', stack: ['<plan>:5 in Body: 1/0'] } },
      { Level: 'fatal', Body: 'e', except: { type: 'ZeroDivisionError' } },
    ]);
    expect(journal).toEqual(['a', '{"b": 1}', 'c', 'd', 'e'].map((text) => `Execution Logs: ${text}`));
  });

  test('MU-14 the state of a Service is durable, and separate for each', async () => {
    const Service = '../../web';
    await machine.body("api.setState('k', {'n': 12345678901234567890, 'f': 1.0})\napi.setState('__proto__', 1)", {
      Service,
    });
    const read = await machine.body("return [api.getState('k'), api.getState('__proto__'), api.getState('none')]", {
      Service,
    });
    expect(read.text).toBe('[{"n": 12345678901234567890, "f": 1.0}, 1, null]');
    expect((await machine.body("return api.getState('k')", { Service: 'db' })).body).toBeNull();
    await machine.body("api.removeState('k')\napi.setState('__proto__', None)", { Service });
    expect((await machine.body("return api.getState('k')", { Service })).body).toBeNull();
    expect(readdirSync(join(machine.dir, 'plan-state')).every((name) => /^[0-9a-f]{64}\.jsonl$/.test(name))).toBe(true);
  });

  test('MU-14 without a Service, calls for the state fail the plan', async () => {
    expect(await machine.body("api.getState('k')")).toMatchObject(failure('StateUnavailable'));
    const tooLarge = await machine.body("api.setState('k', 'x' * 1100000)", { Service: 'web' });
    expect(tooLarge).toMatchObject(failure('StateTooLarge'));
  });

  test('MU-16 case 44: putFile and addFile write files anywhere, relative ones into the working folder', async () => {
    const target = join(machine.dir, 'new', 'copy');
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    const { body, rows } = await machine.run({
      Body: `a = api.putFile('f', 'sub/f')
api.putFile('f', args.target)
id = api.addFile({'Name': 'x', 'BodyType': 'Text', 'Body': 'added'})
b = api.putFile(id, 'x')
return [a, open(a, 'rb').read() == bytes(range(256)), id, open(b).read(), open('sub/f', 'rb').read(2) == b'\\x00\\x01']`,
      Parameters: { target },
      Files: { f: { Name: 'f', BodyType: 'Base64', Body: bytes.toString('base64').replaceAll(/(.{60})/g, '$1\r\n ') } },
    });
    expect(body).toEqual([expect.stringMatching(/\/work\/sub\/f$/), true, 'added-1', 'added', true]);
    expect(readFileSync(target)).toEqual(bytes);
    const notes = rows.filter(([, kind]) => kind === 'note').map(([, , text]) => text);
    expect(notes, 'only files outside of the working folder').toEqual([`The file f was written to ${target}.`]);
  });

  test('a file that is not there is code 8, one that cannot be added code 1', async () => {
    expect(await machine.body("api.putFile('nothing', 'x')")).toMatchObject(failure('FileUnavailable', 8));
    const faulty = "api.addFile({'Name': '../x', 'BodyType': 'Text', 'Body': ''})";
    expect(await machine.body(faulty)).toMatchObject(failure('InvalidFile'));
  });

  test('MU-16 version gives the version of the agent', async () => {
    expect((await machine.body('return api.version()')).body).toBe(agentVersion);
  });

  test('no execution makes more calls than allowed', async () => {
    const Body = 'for i in range(4): api.version()';
    const { code, body, calls } = await machine.run({ Body }, { maxCalls: 3 });
    expect([code, body]).toMatchObject([1, { Type: 'TooManyCalls' }]);
    expect(calls.at(-1)?.n).toBe(3);
  });
});
