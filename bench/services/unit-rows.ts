import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleUnitTools } from '#server/agent-files/bundle-agent.ts';
import { AmpClient } from '../../agent/amp/client.ts';
import { AmpServer } from '../../agent/amp/server.ts';
import { writeJson } from '../../agent/folder/write-file.ts';
import { zipOf } from '../../agent/testing/fake-handler.ts';
import { UnitDesk } from '../../agent/testing/unit-desk.ts';
import { unitMachine } from '../../agent/testing/unit-machine.ts';
import { UnitStage } from '../../agent/testing/unit-stage.ts';
import { placeTools } from '../../agent/unit/place-tools.ts';
import { alternate, type Bench, type Figure, figureOf, median } from '../sections/section.ts';

const hooksPerRound = 30;
const callsPerRound = 15;
const asks = 16;

/** Measures the guest side of units: hooks, a command of a hook, and the socket. */
export async function unitRows(bench: Bench): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'annex-bench-units-'));
  try {
    return [await hooks(bench, folder), ...(await commands(bench, folder))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function hooks({ rounds }: Bench, folder: string): Promise<Figure> {
  const machine = await unitMachine();
  const { desk } = machine;
  const names = ['config-changed', 'install', 'start'];
  const files = Object.fromEntries(names.map((name) => [`hooks/${name}`, '#!/bin/sh\nexit 0\n']));
  const zip = await zipOf({ 'metadata.yaml': 'name: wordpress\n', ...files });
  machine.portal.addPackage('Acme.Blog.wordpress', '1.0.0.0', zip);
  const formula = UnitDesk.formula('1.0.0.0', zip, names);
  const units = Array.from({ length: hooksPerRound }, (_, n) => `bench/${n}`);
  let settingsVersion = 1;
  const ended = () => desk.runs.filter(({ outcome }) => outcome === 'succeeded').length;
  const until = async (count: number): Promise<void> => {
    while (ended() < count) await new Promise((resolve) => setTimeout(resolve, 2));
  };
  try {
    for (const unit of units) desk.want({ unit, formula, settingsVersion });
    await machine.start();
    await until(3 * units.length);
    const measured = await alternate(
      rounds,
      async () => {
        const before = ended();
        settingsVersion += 1;
        const began = performance.now();
        for (const unit of units) desk.want({ unit, settingsVersion });
        await until(before + units.length);
        return (units.length * 1_000) / (performance.now() - began);
      },
      () => wrappersPerSecond(folder),
    );
    return figureOf(
      {
        ...{
          what: 'Hooks that exit with 0, one agent',
          unit: '/s',
          against: 'a shell and as many synced files by node',
        },
        target: { kind: 'at least', value: 0.4, of: 'ratio' },
      },
      measured,
    );
  } finally {
    await machine.close();
  }
}

/** Spawns the wrapper of a hook as often, with its note, its outcome, the record and the deletion of its outcome. */
async function wrappersPerSecond(folder: string): Promise<number> {
  const began = performance.now();
  for (let n = 0; n < hooksPerRound; n += 1) {
    for (const file of ['note', 'outcome', 'record']) writeJson(join(folder, `${file}.json`), { n });
    const child = spawn('/bin/sh', ['-c', 'umask 022; exec "$@"', 'sh', '/bin/true'], {
      ...{ stdio: ['ignore', 'pipe', 'pipe'], detached: true },
    });
    await once(child, 'close');
  }
  return (hooksPerRound * 1_000) / (performance.now() - began);
}

async function commands(bench: Bench, folder: string): Promise<Figure[]> {
  const stage = new UnitStage();
  const server = await AmpServer.listen(join(folder, 'ensemble.sock'), { respond: stage.respond });
  const tools = join(folder, 'tools', '1');
  placeTools(tools, await bundleUnitTools());
  stage.begin('bench');
  await stage.get('bench', 'host');
  const env: NodeJS.ProcessEnv = {
    ...{ NODE_ENV: 'production', PATH: process.env.PATH, ENSEMBLE_SOCKET: server.path, ENSEMBLE_CLIENT_ID: 'bench' },
    ...{ ENSEMBLE_RELATION_ID: 'db:3', ENSEMBLE_LOCAL_UNIT: 'wordpress/1', ENSEMBLE_REMOTE_UNIT: 'mysql/0' },
  };
  const timed = async (program: string, words: string[]): Promise<number> => {
    const taken: number[] = [];
    for (let n = 0; n < callsPerRound; n += 1) {
      const began = performance.now();
      await promisify(execFile)(program, words, { env });
      taken.push(performance.now() - began);
    }
    return median(taken);
  };
  try {
    const measured = await alternate(
      bench.rounds,
      () => timed(join(tools, 'relation-get'), ['host']),
      () => timed(process.execPath, ['-e', 'console.log("10.0.0.4")']),
    );
    const get = figureOf(
      {
        ...{ what: 'relation-get of a key that was read before, p50', unit: 'ms', against: 'Node that prints a line' },
        target: { kind: 'at most', value: 1.4, of: 'ratio' },
      },
      measured,
    );
    return [get, await boxes(bench, server.path, folder)];
  } finally {
    await server.close();
  }
}

/** Measures answered boxes of AMP, with 16 under way, against lines of JSON that are echoed. */
async function boxes({ rounds, seconds }: Bench, path: string, folder: string): Promise<Figure> {
  const echoPath = join(folder, 'echo.sock');
  const echo = createServer((socket) => {
    let rest = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) socket.write(`${JSON.stringify(JSON.parse(line))}\n`);
    });
    socket.on('error', () => {});
  }).listen(echoPath);
  await once(echo, 'listening');
  const client = await AmpClient.open(path);
  const values = { client_id: 'bench', unit_name: 'mysql/0', setting_name: 'host' };
  try {
    const measured = await alternate(
      rounds,
      () => perSecond(seconds, () => client.call('get', values)),
      () => echoedPerSecond(echoPath, seconds, values),
    );
    return figureOf(
      {
        ...{ what: `Commands of the socket, ${asks} under way`, unit: '/s', against: 'lines of JSON that are echoed' },
        target: { kind: 'at least', value: 0.4, of: 'ratio' },
      },
      measured,
    );
  } finally {
    client.close();
    echo.close();
  }
}

async function perSecond(seconds: number, call: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  const until = began + seconds * 1_000;
  let done = 0;
  const work = async (): Promise<void> => {
    while (performance.now() < until) {
      await call();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: asks }, work));
  return (done * 1_000) / (performance.now() - began);
}

async function echoedPerSecond(path: string, seconds: number, values: object): Promise<number> {
  const socket = connect(path);
  await once(socket, 'connect');
  const waiting: (() => void)[] = [];
  let rest = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      JSON.parse(line);
      waiting.shift()?.();
    }
  });
  const rate = await perSecond(
    seconds,
    () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve);
        socket.write(`${JSON.stringify({ ask: '1', command: 'get', ...values })}\n`);
      }),
  );
  socket.destroy();
  return rate;
}
