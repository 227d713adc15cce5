import path from 'node:path';
import { launch } from '#server/launcher/launch.ts';
import { type Config, ConfigError, loadConfig } from '#server/platform/env.ts';
import { newToken } from '#server/platform/keys.ts';
import { runDemo } from './demo.ts';
import { readFlags } from './read-flags.ts';

const usage = `Starts the portal, the agent gateway and the worker, and ends them with Ctrl-C.

  npm start [-- --demo]
      --demo: with sample handlers and three VMs whose agents run here

What can be set in the environment is in docs/operations.md.`;

const root = path.resolve(import.meta.dirname, '..');
const begun = Date.now();

const say = (line: string): void => console.log(`Annex: ${line}`);

/** The one block that people read: where it is, and what to do first. */
function block(config: Config, setupUrl: string | null): string {
  const lines = [
    ['Portal', config.url],
    ['Gateway', `${config.gatewayUrl}   (agents)`],
    ['API', `${config.url}/api/v1/openapi.json`],
    ['Data', config.dataDir],
  ].map(([label = '', value = '']) => `  ${label.padEnd(9)}${value}`);
  const first =
    setupUrl === null
      ? [`  Sign in at ${config.url}`]
      : ['  Make the first administrator (the link serves once, for one day):', `  ${setupUrl}`];
  const seconds = ((Date.now() - begun) / 1000).toFixed(1);
  return ['', `Annex is ready (${seconds} s).`, '', ...lines, '', ...first, '', '  Ctrl-C ends it.', ''].join('\n');
}

async function main(): Promise<void> {
  const values = readFlags(usage, { options: { demo: { type: 'boolean', default: false } } });
  const config = withDemoToken(loadConfig(), values.demo);
  let ending: Promise<void> | undefined;
  const starting = launch(config, root, say);
  const end = (): void => {
    ending ??= starting
      .then((launched) => launched.stop())
      .then(
        () => process.exit(0),
        () => process.exit(1),
      );
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const) process.on(name, end);
  const { setupUrl, keep } = await starting;
  if (ending !== undefined) return;
  console.log(block(config, setupUrl));
  if (values.demo) {
    await runDemo({ config, root, keep, say }).catch((error: unknown) => {
      say(`The demo could not be made: ${error instanceof Error ? error.message : 'unknown error'}`);
    });
  }
}

/** The demo acts through the public API like anybody; its administrator's token lives as long as this process. */
function withDemoToken(config: Config, demo: boolean): Config {
  if (!demo || config.bootstrap.token !== null) return config;
  return { ...config, bootstrap: { ...config.bootstrap, token: newToken('demo') } };
}

main().catch((error: unknown) => {
  if (error instanceof ConfigError) console.error(error.message);
  else console.error(error instanceof Error ? (error.stack ?? error.message) : error);
  process.exit(1);
});
