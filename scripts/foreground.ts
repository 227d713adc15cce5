import path from 'node:path';
import { type Launched, type LaunchOptions, launch } from '#server/launcher/launch.ts';
import { type Config, ConfigError } from '#server/platform/env.ts';

export const root = path.resolve(import.meta.dirname, '..');

/** Prints a line with the prefix "Annex". */
export const say = (line: string): void => console.log(`Annex: ${line}`);

export interface ForegroundOptions extends LaunchOptions {
  config: Config;
  /** Called once Annex is ready. */
  whenReady?(launched: Launched): Promise<void>;
}

/** Starts Annex, prints its URLs and the first step, and stops it on Ctrl-C. */
export async function runInForeground({ config, whenReady, ...options }: ForegroundOptions): Promise<void> {
  const begun = Date.now();
  let ending: Promise<void> | undefined;
  const starting = launch(config, root, say, options);
  const end = (): void => {
    ending ??= starting
      .then((launched) => launched.stop())
      .then(
        () => process.exit(0),
        () => process.exit(1),
      );
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const) process.on(name, end);
  const launched = await starting;
  if (ending !== undefined) return;
  console.log(summary(config, launched.setupUrl, (Date.now() - begun) / 1000));
  await whenReady?.(launched);
}

/** Prints an error and exits with 1. For a `ConfigError`, prints only the message. */
export function exitWith(error: unknown): never {
  if (error instanceof ConfigError) console.error(error.message);
  else console.error(error instanceof Error ? (error.stack ?? error.message) : error);
  process.exit(1);
}

function summary(config: Config, setupUrl: string | null, seconds: number): string {
  const lines = [
    ['Portal', config.url],
    ['Gateway', `${config.gatewayUrl}   (agents)`],
    ['API', `${config.url}/api/v1/openapi.json`],
    ['Data', config.dataDir],
  ].map(([label = '', value = '']) => `  ${label.padEnd(9)}${value}`);
  const first =
    setupUrl === null
      ? [`  Sign in at ${config.url}`]
      : ['  Create the first admin (the link can be used once, for one day):', `  ${setupUrl}`];
  const ready = `Annex is ready. Start-up took ${seconds.toFixed(1)} s.`;
  return ['', ready, '', ...lines, '', ...first, '', '  Press Ctrl-C to stop Annex.', ''].join('\n');
}
