import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pino } from 'pino';
import { ZipFile } from 'yazl';
import type { Context, Services } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { publishVersion, setResources } from '#server/domain/localization/index.ts';
import { receiveUpload, registerPackage } from '#server/domain/packages/index.ts';
import { createPublisher } from '#server/domain/publishers/index.ts';

type Words = Readonly<Record<'en' | 'de' | 'ja', string>>;

/** A seeded handler. `name` is also the name of its extensions. */
export interface SeedHandler {
  name: string;
  handler: string;
  heartbeat: boolean;
  dependsOn: readonly string[];
  settings: Record<string, unknown>;
  /** Oldest first; `share` is the fraction of VMs that have the version now. */
  versions: readonly { version: string; share: number }[];
  messages: Readonly<Record<string, Words>>;
}

const namespace = 'Meridian.Platform';

/** The seeded handlers, in the order in which VMs get them. */
export const seedHandlers: readonly SeedHandler[] = [
  {
    name: 'metrics',
    handler: `${namespace}.Metrics`,
    heartbeat: true,
    dependsOn: [],
    settings: { intervalSeconds: 30, warnAtPercent: 85 },
    versions: [
      { version: '3.0.0.0', share: 0.09 },
      { version: '3.1.0.0', share: 0.63 },
      { version: '3.2.0.0', share: 0.28 },
    ],
    messages: {
      metrics_collected: {
        en: 'Metrics are collected. The disk is {0} % full.',
        de: 'Messwerte werden erfasst. Der Datenträger ist zu {0} % voll.',
        ja: 'メトリックを収集しています。ディスク使用率は {0} % です。',
      },
      disk_nearly_full: {
        en: 'The disk {0} is nearly full: {1} %.',
        de: 'Der Datenträger {0} ist fast voll: {1} %.',
        ja: 'ディスク {0} の空きがほとんどありません: {1} %',
      },
      metrics_starting: {
        en: 'The collector starts: {0} of {1} sources answer.',
        de: 'Die Erfassung startet: {0} von {1} Quellen antworten.',
        ja: 'コレクターを起動しています: {0} / {1} ソースが応答しています。',
      },
      cpu_sampled: {
        en: '{0} processors are measured.',
        de: '{0} Prozessoren werden gemessen.',
        ja: '{0} 個の CPU を計測中',
      },
    },
  },
  {
    name: 'mount',
    handler: `${namespace}.Mount`,
    heartbeat: false,
    dependsOn: [],
    settings: { server: 'files.example.net', share: '/export/data' },
    versions: [
      { version: '2.0.0.0', share: 0.35 },
      { version: '2.1.0.0', share: 0.65 },
    ],
    messages: {
      share_mounted: {
        en: 'The share of {0} is mounted.',
        de: 'Die Freigabe von {0} ist eingebunden.',
        ja: '{0} の共有をマウントしました。',
      },
      connection_refused: {
        en: '{0} refused the connection as {1}.',
        de: '{0} hat die Verbindung als {1} abgelehnt.',
        ja: '{0} は {1} としての接続を拒否しました。',
      },
    },
  },
  {
    name: 'baseline',
    handler: `${namespace}.Baseline`,
    heartbeat: true,
    dependsOn: ['mount'],
    settings: { profile: 'server-2', rules: 48 },
    versions: [
      { version: '5.0.0.0', share: 0.12 },
      { version: '5.1.0.0', share: 0.88 },
    ],
    messages: {
      baseline_applied: {
        en: 'The baseline holds: {0} rules are checked.',
        de: 'Die Vorgaben sind erfüllt: {0} Regeln geprüft.',
        ja: 'ベースラインに適合しています: {0} 件のルールを確認しました。',
      },
      rule_failed: {
        en: 'Rule {0} does not hold.',
        de: 'Regel {0} ist verletzt.',
        ja: 'ルール {0} に適合していません。',
      },
    },
  },
  {
    name: 'backup',
    handler: `${namespace}.Backup`,
    heartbeat: false,
    dependsOn: ['mount'],
    settings: { retain: 7 },
    versions: [
      { version: '1.2.0.0', share: 0.2 },
      { version: '1.3.0.0', share: 0.8 },
    ],
    messages: {
      snapshot_taken: {
        en: 'Snapshot taken. {0} are kept.',
        de: 'Snapshot erstellt. {0} werden aufbewahrt.',
        ja: 'スナップショットを取得しました。{0} 個を保持しています。',
      },
    },
  },
];

/** Registers and publishes the handlers with the same verbs that publishers use. Keeps existing versions. */
export async function publishCatalogue(services: Services): Promise<void> {
  const ctx: Context = {
    ...services,
    log: pino({ level: 'silent' }),
    now: new Date(),
    requestId: randomUUID(),
    origin: { door: 'cli', address: null, client: null },
    actor: { kind: 'system', id: 'seed', name: 'Seed', role: 'admin', namespaces: [] },
  };
  await createPublisher(ctx, { namespace, displayName: 'Meridian Platform' }).catch(ignoreConflict);
  for (const handler of seedHandlers) {
    for (const [index, { version }] of handler.versions.entries()) {
      const newest = index === handler.versions.length - 1;
      await publish({ ...ctx, now: new Date() }, handler, version, newest).catch(ignoreConflict);
    }
  }
}

function ignoreConflict(error: unknown): void {
  if (!(error instanceof DomainError) || error.kind !== 'conflict') throw error;
}

async function publish(ctx: Context, seed: SeedHandler, version: string, newest: boolean): Promise<void> {
  const { handler } = seed;
  const file = await receiveUpload(ctx, Readable.from([await zipOf(seed)]));
  await registerPackage(ctx, { handler, version, file });
  for (const lang of ['en', 'de', 'ja'] as const) {
    // Omits a Japanese message of the newest version, because new versions are often not completely translated yet.
    const ids = Object.keys(seed.messages).filter((_, index) => !(newest && lang === 'ja' && index === 1));
    const messages = ids.map((id) => ({ id, text: seed.messages[id]?.[lang] ?? '' }));
    await setResources(ctx, { handler, version, lang, file: [{ version: 1.0, lang, messages }] });
  }
  await publishVersion(ctx, { handler, version });
}

async function zipOf({ heartbeat }: SeedHandler): Promise<Buffer> {
  const commands = ['install', 'uninstall', 'update', 'enable', 'disable'];
  const handlerManifest = {
    ...Object.fromEntries(commands.map((command) => [`${command}Command`, `bin/${command}.sh`])),
    rebootAfterInstall: false,
    reportHeartbeat: heartbeat,
  };
  const zip = new ZipFile();
  const options = { mtime: new Date(2026, 0, 1, 12), forceDosTimestamp: true };
  zip.addBuffer(
    Buffer.from(JSON.stringify([{ version: 1.0, handlerManifest }], null, 2)),
    'HandlerManifest.json',
    options,
  );
  for (const command of commands) {
    zip.addBuffer(Buffer.from('#!/bin/sh\nexit 0\n'), `bin/${command}.sh`, { ...options, mode: 0o100755 });
  }
  zip.end();
  return buffer(Readable.from(zip.outputStream as AsyncIterable<Buffer>));
}
