import { agentUploads, createAgentHandler } from '#server/agent-api/handler.ts';
import { createReadyz, healthz } from '#server/process/health.ts';
import { type Core, type Route, serve } from '#server/process/http.ts';
import { runProcess } from '#server/process/run.ts';

/** Agents only: everything else is not found, in the words of their door. */
await runProcess('gateway', async (services) => {
  const { config, log } = services;
  const agent = createAgentHandler(services);
  const door: Route = { core: agent satisfies Core, direct: agent.serve, light: true };
  const exact = new Map<string, Route>([
    ['/healthz', { core: healthz }],
    ['/readyz', { core: createReadyz(services) }],
  ]);
  const serving = await serve({
    host: config.host,
    port: config.gatewayPort,
    shared: config.gatewayWorkers > 1,
    tls: config.tls,
    trustProxy: config.trustProxy,
    limits: config.limits,
    log,
    route: (path) => exact.get(path) ?? (agentUploads.test(path) ? { ...door, upload: true } : door),
  });
  return async () => {
    await serving.close();
    await agent.close();
  };
});
