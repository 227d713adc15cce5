import { agentUploads, createAgentHandler } from '#server/agent-api/door.ts';
import { createInstallHandler, isInstallPath } from '#server/agent-files/door.ts';
import { createReadyz, healthz } from '#server/process/health.ts';
import { type Core, type HttpRoute, serve } from '#server/process/http.ts';
import { runProcess } from '#server/process/run.ts';
import { createWireHandler, isWirePath, wireUploads } from '#server/wire/door.ts';

/** Serves the APIs of both kinds of agents, the agent's installer, and health checks. Any other path returns 404. */
await runProcess('gateway', async (services) => {
  const { config, log } = services;
  const agent = createAgentHandler(services);
  const door: HttpRoute = { core: agent satisfies Core, direct: agent.serve, light: true };
  const wire = createWireHandler(agent.door);
  const wireDoor: HttpRoute = { core: wire satisfies Core, direct: wire.serve, light: true };
  const install: HttpRoute = { core: createInstallHandler(config) };
  const doorOf = (path: string): HttpRoute => {
    if (isInstallPath(path)) return install;
    const isWire = isWirePath(path);
    const uploads = isWire ? wireUploads : agentUploads;
    return { ...(isWire ? wireDoor : door), ...(uploads.test(path) && { upload: true }) };
  };
  const exact = new Map<string, HttpRoute>([
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
    route: (path) => exact.get(path) ?? doorOf(path),
  });
  return async () => {
    await serving.close();
    await agent.close();
  };
});
