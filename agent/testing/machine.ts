import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { enroll } from '../commands/enroll.ts';
import { layoutOf } from '../folder/layout.ts';
import { writeJson } from '../folder/write-file.ts';
import { createKey } from '../identity/create-key.ts';
import type { IdentityFile } from '../identity/identity.ts';
import { openCaller } from '../portal/call.ts';
import { type AgentInProcess, agentInProcess } from './agent-in-process.ts';
import { type FakeHandler, fakeHandler } from './fake-handler.ts';
import { type FakePortal, fakePortal } from './fake-portal.ts';

/** A machine with its own folder, enrolled with its own portal. */
export interface TestMachine extends AgentInProcess {
  dir: string;
  portal: FakePortal;
  /** File in which the fake handlers log their calls. */
  callsFile: string;
  calls(): string[];
  /** Waits until a condition is true. Throws after 15 seconds; `what` names the condition. */
  until(what: string, isTrue: () => boolean): Promise<void>;
  addHandler(options: FakeHandler): Promise<void>;
  close(): Promise<void>;
}

let firstKey: Promise<{ thumbprint: string; certificates: string }> | undefined;

/** Creates the key that all test machines in this process start with. Creating a key takes longer than many tests. */
async function makeFirstKey(): Promise<{ thumbprint: string; certificates: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'annex-agent-key-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const layout = layoutOf(folder);
  const { thumbprint } = await createKey(layout, 'test');
  return { thumbprint, certificates: layout.certificates };
}

export async function testMachine(): Promise<TestMachine> {
  const dir = mkdtempSync(join(tmpdir(), 'annex-agent-'));
  const callsFile = join(dir, 'calls.log');
  const portal = await fakePortal();
  const call = openCaller({ environment: {} });
  const layout = layoutOf(join(dir, 'agent'));
  firstKey ??= makeFirstKey();
  const { thumbprint, certificates } = await firstKey;
  mkdirSync(layout.certificates, { recursive: true, mode: 0o700 });
  cpSync(certificates, layout.certificates, { recursive: true });
  // The same state as after an enrollment whose response was lost: the agent continues with the pending key.
  const pending = { portal: portal.url, name: 'test', thumbprint, vmId: null, enrolledAt: null, pollSeconds: null };
  writeJson(layout.identity, pending satisfies IdentityFile);
  await enroll({ portal: portal.url, token: 'token', dir: layout.root, call }, () => {});

  const machine: TestMachine = {
    dir: layout.root,
    portal,
    callsFile,
    ...agentInProcess(layout, call),
    calls: () => (existsSync(callsFile) ? readFileSync(callsFile, 'utf8').trim().split('\n') : []),
    async until(what, isTrue) {
      const end = Date.now() + 15_000;
      while (!isTrue()) {
        if (Date.now() > end) throw new Error(`never seen: ${what}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async addHandler(options) {
      portal.addPackage(options.handler, options.version, await fakeHandler(callsFile, options));
    },
    async close() {
      await machine.stop();
      await portal.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return machine;
}

/** Returns the reported states of an extension, as `command state`, in order. */
export function statesOf(portal: FakePortal, extension: string): string[] {
  return portal.reports.flatMap(({ handlers }) =>
    handlers.filter((one) => one.extension === extension).map(({ command, state }) => `${command ?? '-'} ${state}`),
  );
}
