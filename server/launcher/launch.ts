import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { migrate } from '#db/migrate.ts';
import { bootstrapPeople } from '#server/auth/bootstrap.ts';
import { systemActor } from '#server/domain/actor.ts';
import { beginActivity, noteUpgrade } from '#server/domain/audit/index.ts';
import { systemOrigin } from '#server/domain/context.ts';
import { dropRolloutSecrets } from '#server/domain/rollouts/index.ts';
import { dropPortalCopies } from '#server/domain/stock-agents/index.ts';
import { bareEnvironment, type ChildKind, type Config, ConfigError, childEnvironment } from '#server/platform/env.ts';
import { deriveKeys, sha256Hex } from '#server/platform/keys.ts';
import { endProcessesBelow } from '#server/platform/processes.ts';
import { secretKey } from '#server/platform/secret-key.ts';
import { type OpenServices, openPool, openServices } from '#server/process/services.ts';
import { buildPages } from './build.ts';
import { type Child, keepRunning } from './child.ts';
import { type EmbeddedDatabase, keepDatabase } from './database.ts';
import { doorArguments } from './door.ts';
import { LockedError, takeLock } from './lock.ts';
import { checkPorts } from './ports.ts';
import { startWarnings } from './warnings.ts';

/** Controls the processes that `launch` started. */
export interface Launched {
  /** One-time link for the first administrator; null if there is already an administrator. */
  setupUrl: string | null;
  /**
   * Keeps an additional process running, without the launcher's environment. It is stopped before the launcher's other
   * processes, and so are all processes whose working folder is `folder` or below it.
   */
  keep(name: string, args: string[], folder: string): void;
  /** Restarts all processes except the database and additional processes, so that they run changed code. */
  restart(): Promise<void>;
  /**
   * Stops everything in order: additional processes, then the portal, the gateways, the worker and the conductor, then
   * the database.
   */
  stop(): Promise<void>;
}

export interface LaunchOptions {
  /** Compiles pages on request and reloads them when changed, instead of building them first. */
  development?: boolean;
}

/**
 * Starts the database, the portal, the gateways, the worker and, if a broker is configured, the conductor, and keeps
 * them running. If one of them does not start, stops the others and throws. Users see the message of a ConfigError.
 */
export async function launch(
  config: Config,
  root: string,
  say: (line: string) => void,
  { development = false }: LaunchOptions = {},
): Promise<Launched> {
  const endings: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
  };
  try {
    endings.push(await takeDataDir(config.dataDir));
    await checkPorts(config);
    for (const warning of startWarnings(config)) say(warning);
    const [databaseUrl] = await Promise.all([
      openDatabase(config, say, endings),
      development ? null : buildPages(root, say),
    ]);
    const setupUrl = await prepare({ ...config, databaseUrl });
    const { token } = config.bootstrap;
    const digest: Record<string, string> = token === null ? {} : { ANNEX_BOOTSTRAP_DIGEST: sha256Hex(token) };
    const environment = (kind: Exclude<ChildKind, 'build'>): NodeJS.ProcessEnv =>
      childEnvironment(kind, {
        DATABASE_URL: databaseUrl,
        DATA_DIR: config.dataDir,
        ...(kind === 'portal' ? digest : {}),
        ...(development ? { NODE_ENV: 'development' } : {}),
      });
    const several = config.gatewayWorkers > 1;
    const gateways = Array.from({ length: config.gatewayWorkers }, (_, i) => ({
      kind: 'gateway' as const,
      name: several ? `gateway ${i + 1}` : 'gateway',
    }));
    const doors = [
      { kind: 'portal' as const, name: 'portal' },
      ...gateways,
      { kind: 'worker' as const, name: 'worker' },
      ...(config.amqp.urls.length > 0 ? [{ kind: 'conductor' as const, name: 'conductor' }] : []),
      ...(config.fabric.mode === 'off' ? [] : [{ kind: 'fabric' as const, name: 'fabric' }]),
    ].map(({ kind, name }) =>
      keepRunning({
        name,
        args: doorArguments(root, kind),
        cwd: root,
        env: environment(kind),
        say,
        tellsReady: true,
      }),
    );
    // If the fabric was killed, the agents that it started are still running.
    if (config.fabric.mode === 'spawn') endings.push(() => endProcessesBelow(join(config.dataDir, 'fabric')));
    endings.push(async () => void (await Promise.all(doors.map((door) => door.stop()))));
    const ready = doors.map((door) => door.ready);
    await Promise.allSettled(ready);
    await Promise.all(ready);
    const extras: { child: Child; folder: string }[] = [];
    endings.push(async () => void (await Promise.all(extras.map(endExtra))));
    const keep = (name: string, args: string[], folder: string): void => {
      const child = keepRunning({ name, args, cwd: root, env: bareEnvironment(), say, tellsReady: false, quiet: true });
      child.ready.catch(() => say(`The ${name} could not be started.`));
      extras.push({ child, folder });
    };
    const restart = async (): Promise<void> => void (await Promise.all(doors.map((door) => door.restart())));
    return { setupUrl, keep, restart, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function endExtra({ child, folder }: { child: Child; folder: string }): Promise<void> {
  await child.stop();
  await endProcessesBelow(folder);
}

async function takeDataDir(dataDir: string): Promise<() => Promise<void>> {
  try {
    return await takeLock(join(dataDir, 'launcher.lock'));
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    throw new ConfigError(
      `Annex is already running with the data in ${dataDir} (process ${error.pid}). Stop it, or set DATA_DIR to another folder.`,
    );
  }
}

async function openDatabase(
  config: Config,
  say: (line: string) => void,
  endings: (() => Promise<void>)[],
): Promise<string> {
  if (config.databaseUrl !== null) return config.databaseUrl;
  const database: EmbeddedDatabase = await keepDatabase(config.dataDir, say);
  endings.push(() => database.stop());
  return database.url;
}

/**
 * Prepares the database before the processes start: migrates it, begins its activity log, deletes copies of secrets
 * that the portal may no longer keep, and creates the first administrator or a setup link. Returns the setup link; null
 * if there is an administrator.
 */
async function prepare(config: Config & { databaseUrl: string }): Promise<string | null> {
  const keys = deriveKeys(await secretKey(config));
  const pool = openPool(config.databaseUrl, 'launcher');
  pool.on('error', () => {});
  try {
    await migrate(pool, (applied) => noteUpgrade({ keys, config }, applied));
  } catch (error) {
    const why = isUnreachable(error)
      ? 'the database of DATABASE_URL does not respond, or rejects the user.'
      : `the database could not be migrated to this version (${reasonOf(error)}). Nothing in it was changed.`;
    throw new ConfigError(`Annex cannot start: ${why}`, { cause: error });
  } finally {
    await pool.end();
  }
  const services = await openServices(config, 'launcher');
  try {
    await beginActivity(services, new Date());
    await dropCopies(services);
    return (await bootstrapPeople(services)).setupUrl;
  } finally {
    await services.close();
  }
}

/** Deletes the copies of protected settings and tenant keys that ANNEX_CUSTODY no longer allows the portal to keep. */
async function dropCopies(services: OpenServices): Promise<void> {
  const call = { actor: systemActor, origin: systemOrigin, now: new Date(), requestId: randomUUID() };
  const dropped = {
    ...(await dropPortalCopies({ ...services, ...call })),
    rollouts: await dropRolloutSecrets({ ...services, ...call }),
  };
  if (dropped.secrets + dropped.tenantKeys + dropped.rollouts === 0) return;
  services.log.info(dropped, 'ANNEX_CUSTODY=vm: removed the copies of secrets that the portal kept');
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : reasonOf(error.cause);
}

function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = String((error as { code?: unknown }).code ?? '');
  return /^(E[A-Z]+|28\w{3}|3D000|57P03)$/.test(code) || /timeout/.test(error.message) || isUnreachable(error.cause);
}
