import { setTimeout as delay } from 'node:timers/promises';
import { type Config, loadConfig } from '#server/platform/env.ts';
import { newToken } from '#server/platform/keys.ts';
import { type DemoOptions, runDemo } from './demo.ts';
import { exitWith, root, runInForeground, say } from './foreground.ts';
import { readFlags } from './read-flags.ts';

const usage = `Starts the portal, the agent gateway and the worker. Press Ctrl-C to stop them.

  npm start [-- --demo]
      --demo: also creates sample handlers and three VMs whose agents run on this machine

docs/operations.md lists the environment variables.`;

async function main(): Promise<void> {
  const values = readFlags(usage, { options: { demo: { type: 'boolean', default: false } } });
  const config = withDemoToken(loadConfig(), values.demo);
  await runInForeground({
    config,
    async whenReady({ keep }) {
      if (!values.demo) return;
      await createDemo({ config, root, keep, say });
    },
  });
}

/**
 * Maximum number of attempts to create the demo, and the seconds between them. Each attempt completes what the previous
 * attempt created.
 */
const demoAttempts = 3;
const demoPauseSeconds = 5;

async function createDemo(options: DemoOptions): Promise<void> {
  for (let attempt = 1; attempt <= demoAttempts; attempt += 1) {
    try {
      return await runDemo(options);
    } catch (error) {
      say(`The demo could not be created: ${error instanceof Error ? error.message : 'unknown error'}`);
    }
    if (attempt < demoAttempts) await delay(demoPauseSeconds * 1000);
  }
}

/**
 * Adds an admin token that is valid while this process runs, because the demo uses the public API as any client does.
 */
function withDemoToken(config: Config, demo: boolean): Config {
  if (!demo || config.bootstrap.token !== null) return config;
  return { ...config, bootstrap: { ...config.bootstrap, token: newToken('demo') } };
}

main().catch(exitWith);
