import { runProcess } from '#server/process/run.ts';
import { Conductor } from './conductor.ts';

await runProcess('conductor', async (services) => {
  const conductor = new Conductor(services);
  const running = conductor.run();
  return async () => {
    conductor.stop();
    await running;
  };
});
