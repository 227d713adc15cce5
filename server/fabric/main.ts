import { ConfigError } from '#server/platform/env.ts';
import { runProcess } from '#server/process/run.ts';
import { Fabric } from './fabric.ts';

await runProcess('fabric', async (services) => {
  if (services.config.fabric.mode === 'off')
    throw new ConfigError('The fabric has nothing to do. Set ANNEX_FABRIC to proxy or spawn.');
  const fabric = new Fabric(services);
  const running = fabric.run();
  return async () => {
    fabric.stop();
    await running;
  };
});
