import { BlockList } from 'node:net';
import pino from 'pino';
import { createAgentHandler } from '#server/agent-api/door.ts';
import { createInstallHandler, type InstallOptions, isInstallPath } from '#server/agent-files/door.ts';
import type { Context } from '#server/domain/context.ts';
import { healthz } from '#server/process/health.ts';
import { type HttpRoute, type ServeOptions, serve } from '#server/process/http.ts';
import { testContext, testServices } from './context.ts';

/** A gateway from which machines install the agent and with which they enroll. */
export interface InstallGateway {
  url: string;
  /** The context of an operator. */
  ctx: Context;
  /** The path whose responses are altered, as an attacker on the network would; null for none. */
  damaged: string | null;
  close(): Promise<void>;
}

/** Starts a gateway on its own port, with a new database; with `tls`, over HTTPS. */
export async function openInstallGateway(
  options: InstallOptions = {},
  tls: ServeOptions['tls'] = null,
): Promise<InstallGateway> {
  const services = await testServices({ config: { vmRate: 0 } });
  const log = pino({ level: 'silent' });
  const agent = createAgentHandler({ ...services, log });
  const install = { serve: createInstallHandler({ gatewayUrl: 'http://localhost:1' }) };
  const installRoute: HttpRoute = {
    async core(request, info) {
      const answer = await install.serve(request, info);
      if (gateway.damaged === null || !new URL(request.url).pathname.startsWith(gateway.damaged)) return answer;
      return new Response(`${await answer.text()}\n// damaged`);
    },
  };
  const serving = await serve({
    host: '127.0.0.1',
    port: 0,
    tls,
    trustProxy: new BlockList(),
    limits: services.config.limits,
    log,
    route(path) {
      if (isInstallPath(path)) return installRoute;
      return path === '/healthz' ? { core: healthz } : { core: agent, direct: agent.serve, light: true };
    },
  });
  const url = `${tls === null ? 'http' : 'https'}://127.0.0.1:${serving.port}`;
  install.serve = createInstallHandler({ gatewayUrl: url }, options);
  const gateway: InstallGateway = {
    url,
    ctx: await testContext({ role: 'operator', services }),
    damaged: null,
    close: async () => {
      await serving.close(1_000);
      await agent.close();
    },
  };
  return gateway;
}
