import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Api } from '../support/api.ts';
import { zipOf } from '../support/zip.ts';
import type { StockMachine } from './stock-machine.ts';

export const probe = 'Annex.Stock.Probe';
/** A second build of the probe, as a handler that supports multiple extensions. */
export const many = 'Annex.Stock.Many';
/** A handler that the probes depend on. */
export const base = 'Annex.Stock.Base';

/** One line in the probes' log on a machine. */
export interface ProbeCall {
  handler: string;
  version: string;
  command: string;
  sequence?: number;
  name?: string;
  /** During an update: VERSION and AZURE_GUEST_AGENT_UPDATING_FROM_VERSION. */
  target?: string;
  from?: string;
  /** SHA-256 of the decrypted protected settings. */
  secret?: string;
}

const texts = {
  en: { watching: 'Probe {0} is watching {1}.', reached: '{0} was reached.', beat: 'Watching.' },
  de: { watching: 'Probe {0} beobachtet {1}.', reached: '{0} wurde erreicht.', beat: 'Beobachtet.' },
};

const versions: [string, string[]][] = [
  [probe, ['1.0.0.0', '1.1.0.0', '1.2.0.0']],
  [many, ['1.0.0.0']],
  [base, ['1.0.0.0']],
];

/** Publishes the probes with messages in English and German. */
export async function publishProbes(api: Api): Promise<void> {
  await api.ensurePublisher('Annex.Stock');
  for (const [handler, list] of versions) {
    for (const version of list) {
      const resources = Object.fromEntries(
        Object.entries(texts).map(([lang, messages]) => [
          lang,
          [{ version: 1.0, lang, messages: Object.entries(messages).map(([id, text]) => ({ id, text })) }],
        ]),
      );
      await api.publish(handler, version, await probePackage(version, handler === many), { resources });
    }
  }
}

async function probePackage(version: string, supportsMultipleExtensions: boolean): Promise<Buffer> {
  const commands = ['install', 'uninstall', 'update', 'enable', 'disable'];
  const manifest = [
    {
      version: 1.0,
      handlerManifest: {
        ...Object.fromEntries(commands.map((command) => [`${command}Command`, `./probe.py ${command}`])),
        rebootAfterInstall: false,
        reportHeartbeat: !supportsMultipleExtensions,
        ...(supportsMultipleExtensions ? { supportsMultipleExtensions } : {}),
      },
    },
  ];
  const program = readFileSync(path.join(import.meta.dirname, 'probe.py'), 'utf8');
  return await zipOf({
    'HandlerManifest.json': JSON.stringify(manifest),
    'probe.py': program.replace('@VERSION@', version),
  });
}

/** Returns the calls of the probes on a machine, oldest first. */
export function probeCalls(machine: StockMachine): ProbeCall[] {
  return machine
    .text('/var/log/probe.log')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ProbeCall);
}

/** Formats calls as `1.0 install, 1.0 enable 1`. */
export function inShort(calls: ProbeCall[]): string {
  return calls
    .map(({ version, command, sequence, name }) =>
      [version.replace(/(\.0)+$/, '').replace(/^\d+$/, '$&.0'), command, command === 'enable' ? sequence : '', name]
        .filter((part) => part !== '' && part !== undefined)
        .join(' '),
    )
    .join(', ');
}
