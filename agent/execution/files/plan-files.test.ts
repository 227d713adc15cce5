import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type PlanMachine, type PlanRun, planMachine } from '../../testing/plan-run.ts';
import { fetchUri } from './fetch-uri.ts';
import type { FileSources } from './plan-files.ts';
import { openUriRoute } from './uri-route.ts';

const digestOf = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');
/** A file with all byte values. */
const blob = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, value) => value)), randomBytes(10_000)]);

let machine: PlanMachine;
let server: Server;
let asked: string[];
let connections: number;
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeAll(async () => {
  machine = await planMachine();
  server = createServer((request, response) => {
    asked.push(`${request.headers.host} ${request.url}`);
    answer(request, response);
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
beforeEach(() => {
  asked = [];
  connections = 0;
  answer = (_, response) => response.end(blob);
});
afterEach(() => server.closeAllConnections());
afterAll(async () => {
  machine.close();
  await new Promise((resolve) => server.close(resolve));
});

const port = () => (server.address() as AddressInfo).port;
const routeFor = (privateHosts: string[], more: object = {}): FileSources => ({
  route: { ...openUriRoute({ environment: {} }, privateHosts), ...more },
  download: null,
});
const failure = { code: 8, body: { Type: 'FileUnavailable' } };

/** Runs a plan that puts files of BodyType URI. */
function putUris(uris: readonly string[], sources: FileSources, more: object = {}): Promise<PlanRun> {
  const Files = Object.fromEntries(uris.map((Body, n) => [`f${n}`, { Name: 'f', BodyType: 'URI', Body, ...more }]));
  const Body = uris.map((_, n) => `api.putFile('f${n}', 'x${n}')`).join('\n');
  return machine.run({ Body: `${Body}\nreturn len(open('x0', 'rb').read())`, Files }, { sources });
}

describe('MU-54 an address', () => {
  test('case 35: in a private network is code 8, without a connection', async () => {
    const names = { lookup: async () => [{ address: '127.0.0.1', family: 4 }] };
    for (const host of [
      '127.0.0.1',
      '169.254.169.254',
      '[::1]',
      '10.0.0.1',
      '[::ffff:127.0.0.1]',
      '2130706433',
      'name.example',
    ]) {
      const run = await putUris([`http://${host}:${port()}/f`], routeFor([], names));
      expect(run, host).toMatchObject(failure);
    }
    expect(connections).toBe(0);
  });

  test('case 35: that redirects to a private one is code 8, without a second connection', async () => {
    answer = (_, response) => response.writeHead(302, { location: `http://169.254.169.254:${port()}/x` }).end();
    expect(await putUris([`http://127.0.0.1:${port()}/f`], routeFor(['127.0.0.1']))).toMatchObject(failure);
    answer = (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end();
    expect(await putUris([`http://127.0.0.1:${port()}/f`], routeFor(['127.0.0.1']))).toMatchObject(failure);
    expect(asked).toEqual([`127.0.0.1:${port()} /f`, `127.0.0.1:${port()} /f`]);
  });

  test('works with planPrivateHosts, even after a redirect', async () => {
    answer = (request, response) => {
      if (request.url === '/f') response.writeHead(307, { location: '/g' }).end();
      else response.end(blob);
    };
    const names = { lookup: async () => [{ address: '127.0.0.1', family: 4 }] };
    const run = await putUris([`http://name.example:${port()}/f`], routeFor(['name.example'], names));
    expect(run).toMatchObject({ code: 0, body: blob.length });
    expect(asked).toEqual([`name.example:${port()} /f`, `name.example:${port()} /g`]);
  });

  test.each(['file:///etc/passwd', 'ftp://example.com/x'])('%s is code 2', async (uri) => {
    expect(await putUris([uri], routeFor([]))).toMatchObject({ code: 2 });
  });
});

describe('a download from an address', () => {
  const here = () => `http://127.0.0.1:${port()}/f`;
  const local = () => routeFor(['127.0.0.1']);

  test('case 35: connects to the address that was checked, even if the name then has another address', async () => {
    const answers = ['127.0.0.1', '10.0.0.1'];
    const lookup = async () => [{ address: answers.shift() ?? '10.0.0.1', family: 4 }];
    const run = await putUris([`http://name.example:${port()}/f`], routeFor(['127.0.0.1'], { lookup }));
    expect(run).toMatchObject({ code: 0, body: blob.length });
    expect(answers, 'resolved once').toEqual(['10.0.0.1']);
  });

  test('happens once for each execution, even for several files', async () => {
    expect(await putUris([here(), here(), here()], local())).toMatchObject({ code: 0 });
    expect(asked).toHaveLength(1);
    await putUris([here()], local());
    expect(asked, 'the contents can have changed').toHaveLength(2);
  });

  test('with a Sha256 is verified, and happens once for the machine', async () => {
    const bytes = randomBytes(100);
    answer = (_, response) => response.end(bytes);
    const wrong = await putUris([here()], local(), { Sha256: 'a'.repeat(64) });
    expect(wrong).toMatchObject({ code: 8, body: { Message: expect.stringContaining(digestOf(bytes)) } });
    for (let n = 0; n < 2; n += 1) {
      expect(await putUris([here()], local(), { Sha256: digestOf(bytes).toUpperCase() })).toMatchObject({ code: 0 });
    }
    expect(asked).toHaveLength(2);
  });

  test.each<[what: string, respond: (response: ServerResponse) => void]>([
    ['redirects without end', (response) => response.writeHead(302, { location: '/again' }).end()],
    [
      'redirects to an address with credentials',
      (response) => response.writeHead(302, { location: `http://eve:hunter22@127.0.0.1:${port()}/` }).end(),
    ],
    ['answers with an error', (response) => response.writeHead(500).end('no')],
    [
      'breaks off',
      (response) => response.writeHead(200, { 'content-length': '100' }).write('x', () => response.destroy()),
    ],
  ])('that %s is code 8', async (_, respond) => {
    answer = (__, response) => respond(response);
    const run = await putUris([here()], local());
    expect(run).toMatchObject(failure);
    expect(run.text).not.toContain('hunter22');
    expect(asked.length).toBeLessThanOrEqual(6);
  });

  test('case 35: is bounded in size and time', async () => {
    // A response without a length and without an end.
    answer = (_, response) => response.writeHead(200).write(Buffer.alloc(2_000));
    const { signal } = new AbortController();
    const download = { uri: here(), file: join(machine.dir, 'bounded'), signal };
    const route = openUriRoute({ environment: {} }, ['127.0.0.1']);
    await expect(fetchUri(route, { ...download, maxBytes: 1_000 })).rejects.toThrow('it is larger than');
    rmSync(download.file, { force: true });
    const late = fetchUri(route, { ...download, maxBytes: 10_000, seconds: 0.3 });
    await expect(late).rejects.toThrow('it did not arrive within 0.3 s');
  });

  test('case 35: with credentials in the address is code 8, and no message contains the credentials', async () => {
    const run = await putUris([`http://eve:hunter22@127.0.0.1:${port()}/f`], local());
    expect(run).toMatchObject(failure);
    expect([run.text, ...run.rows.map((row) => JSON.stringify(row)), ...run.journal].join()).not.toContain('hunter22');
    expect(connections).toBe(0);
  });

  test('goes through a proxy, which resolves names; private addresses are still rejected', async () => {
    const proxy = { environment: { HTTP_PROXY: `http://127.0.0.1:${port()}`, NO_PROXY: '.direct.example' } };
    const sources: FileSources = { route: openUriRoute(proxy, []), download: null };
    expect(await putUris(['http://files.example/f'], sources)).toMatchObject({ code: 0, body: blob.length });
    expect(asked).toEqual(['files.example http://files.example/f']);
    expect(await putUris(['http://10.0.0.1/f'], sources)).toMatchObject(failure);
    const direct = { ...openUriRoute(proxy, []), lookup: async () => [{ address: '10.0.0.1', family: 4 }] };
    expect(await putUris(['http://x.direct.example/f'], { route: direct, download: null })).toMatchObject(failure);
    expect(asked).toHaveLength(1);
  });
});

describe('a file of BodyType ID', () => {
  const pinned = (bytes: Buffer) => ({
    files: { tool: { sha256: digestOf(bytes), size: bytes.length, url: '/agent/v1/executions/e/files/tool' } },
  });
  const fromPortal = (bytes: Buffer, calls: string[] = []): FileSources => ({
    route: null,
    download: async (url, file) => {
      calls.push(url);
      writeFileSync(file, bytes);
    },
  });
  const Files = {
    tool: { Name: 'lib/tool.bin', BodyType: 'ID', Body: 'tool' },
    main: {
      Name: 'main.sh',
      BodyType: 'Text',
      Body: '#!/bin/sh\ncksum < lib/tool.bin > /dev/null && readlink lib/tool.bin',
    },
  };
  const Scripts = {
    one: { Type: 'Application', EntryPoint: 'main', Files: ['tool'] },
    two: { Type: 'Application', EntryPoint: 'main', Files: ['tool'] },
    tool: { Type: 'Application', EntryPoint: 'tool' },
  };

  test('MU-7 is fetched once, verified, cached, and shared by symbolic links', async () => {
    const bytes = randomBytes(5_000);
    const calls: string[] = [];
    const plan = { Body: 'return [one().stdout, two().stdout]', Files, Scripts };
    const terms = { envelope: pinned(bytes), sources: fromPortal(bytes, calls) };
    const cached = join(machine.dir, 'plan-cache', digestOf(bytes));
    expect(await machine.run(plan, terms)).toMatchObject({ code: 0, body: [cached, cached] });
    expect((await machine.run(plan, terms)).code).toBe(0);
    expect(calls).toEqual(['/agent/v1/executions/e/files/tool']);
    expect([readFileSync(cached), statSync(cached).mode & 0o777]).toEqual([bytes, 0o444]);
  });

  test('MU-7 case 10: has a name below the script’s folder, like files in the plan, which arrive byte for byte', async () => {
    const every = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
    const inline = {
      text: { Name: 'a/b/ü.txt', BodyType: 'Text', Body: 'größer\n' },
      bytes: { Name: 'a/every', BodyType: 'Base64', Body: every.toString('base64') },
      main: { ...Files.main, Body: '#!/bin/sh\nsha256sum a/b/* a/every' },
    };
    const one = { ...Scripts.one, Files: ['text', 'bytes'] };
    const { body } = await machine.run({ Body: 'return one().stdout', Files: inline, Scripts: { one } });
    expect(body).toBe(`${digestOf('größer\n')}  a/b/ü.txt\n${digestOf(every)}  a/every`);
    for (const Name of ['../x', '/etc/x', 'a/../../x']) {
      for (const BodyType of ['Text', 'ID', 'URI']) {
        const file = { Name, BodyType, Body: 'http://example.com/' };
        expect(await machine.run({ Body: 'return 1', Files: { file } })).toMatchObject({ code: 2 });
      }
    }
  });

  test('MU-55 that a script altered through its link is fetched again at its next use', async () => {
    const bytes = randomBytes(1_000);
    const calls: string[] = [];
    const alter = { ...Files.main, Body: '#!/bin/sh\nchmod u+w lib/tool.bin\necho changed >> lib/tool.bin' };
    const check = { ...Files.main, Body: '#!/bin/sh\nsha256sum < lib/tool.bin' };
    const plan = {
      Body: 'one()\nreturn two().stdout',
      Files: { tool: Files.tool, alter, check },
      Scripts: { one: { ...Scripts.one, EntryPoint: 'alter' }, two: { ...Scripts.two, EntryPoint: 'check' } },
    };
    const { body } = await machine.run(plan, { envelope: pinned(bytes), sources: fromPortal(bytes, calls) });
    expect(body).toBe(`${digestOf(bytes)}  -`);
    expect(calls).toHaveLength(2);
  });

  test('as an entry point can run, and is a copy next to the other files', async () => {
    const program = Buffer.from(`#!/bin/sh\n# ${randomBytes(8).toString('hex')}\necho "$(basename "$0") $(ls)"`);
    const terms = { envelope: pinned(program), sources: fromPortal(program) };
    expect(await machine.run({ Body: 'return tool().stdout', Files, Scripts }, terms)).toMatchObject({
      code: 0,
      body: 'tool.bin lib',
    });
    expect(statSync(join(machine.dir, 'plan-cache', digestOf(program))).mode & 0o777).toBe(0o444);
  });

  test('that putFile writes is a copy, which outlives the cache', async () => {
    const bytes = randomBytes(2_000);
    const target = join(machine.dir, 'etc', 'tool.conf');
    const terms = { envelope: pinned(bytes), sources: fromPortal(bytes) };
    const Body = 'api.putFile("tool", args.target)\nreturn api.putFile("tool", "x")';
    const { body, rows } = await machine.run({ Body, Files, Parameters: { target } }, terms);
    expect(body).toMatch(/\/work\/x$/);
    expect(lstatSync(target).isSymbolicLink()).toBe(false);
    expect([readFileSync(target), statSync(target).mode & 0o777]).toEqual([bytes, 0o644]);
    expect(rows.some(([, kind, text]) => kind === 'note' && String(text).includes(target))).toBe(true);
  });

  test.each<[what: string, envelope: object, sources: FileSources]>([
    ['that the portal did not offer', {}, fromPortal(blob)],
    ['whose bytes are different', pinned(randomBytes(10)), fromPortal(randomBytes(10))],
    [
      'that cannot be downloaded',
      pinned(randomBytes(9)),
      { route: null, download: async () => Promise.reject(new Error('gone')) },
    ],
  ])('%s is code 8', { timeout: 30_000 }, async (_, envelope, sources) => {
    const run = await machine.run({ Body: 'return one()', Files, Scripts }, { envelope, sources });
    expect(run).toMatchObject(failure);
  });
});

test('the cache drops the files that were used longest ago, and none that the execution uses', async () => {
  const own = await planMachine();
  const sources: FileSources = { ...routeFor(['127.0.0.1']), cacheBytes: 25_000 };
  const bodies = new Map<string, Buffer>();
  answer = ({ url = '' }, response) => {
    const bytes = bodies.get(url) ?? randomBytes(10_000);
    bodies.set(url, bytes);
    response.end(bytes);
  };
  const put = (names: readonly string[]) => {
    const file = (name: string) => ({ Name: 'f', BodyType: 'URI', Body: `http://127.0.0.1:${port()}/${name}` });
    const Files = Object.fromEntries(names.map((name) => [name, file(name)]));
    return own.run({ Body: names.map((name) => `api.putFile('${name}', '${name}')`).join('\n'), Files }, { sources });
  };
  const cached = () => readdirSync(join(own.dir, 'plan-cache')).sort();
  const digests = (...names: string[]) => names.map((name) => digestOf(bodies.get(`/${name}`) ?? '')).sort();
  await put(['a', 'b', 'c', 'd']);
  expect(cached(), 'the execution used all of them').toEqual(digests('a', 'b', 'c', 'd'));
  await put(['e']);
  expect(cached()).toEqual(digests('d', 'e'));
  own.close();
});
