import { join } from 'node:path';
import { ConfigError } from '#server/platform/env.ts';
import { runProcess } from '#server/process/run.ts';
import { SpawnedAgents } from './agents/spawned-agents.ts';
import { Fabric } from './fabric.ts';

await runProcess('fabric', async (services) => {
  if (services.config.fabric.mode === 'off')
    throw new ConfigError('The fabric has nothing to do. Set ANNEX_FABRIC to proxy or spawn.');
  const root = join(import.meta.dirname, '..', '..');
  const agents = services.config.fabric.mode === 'spawn' ? new SpawnedAgents({ ...services, root }) : null;
  const fabric = new Fabric(services, { agents });
  const running = fabric.run();
  return async () => {
    fabric.stop();
    await running;
  };
});
