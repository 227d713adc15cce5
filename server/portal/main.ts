import { join } from 'node:path';
import next from 'next';
import { createAgentHandler } from '#server/agent-api/handler.ts';
import { createAuthHandler, openSignIn } from '#server/auth/index.ts';
import { openLive } from '#server/live/index.ts';
import { createReadyz, healthz } from '#server/process/health.ts';
import { type Route, serve } from '#server/process/http.ts';
import { runProcess } from '#server/process/run.ts';
import { createDownloadHandler } from '#server/rest/download.ts';
import { createRestHandler } from '#server/rest/handler.ts';
import { createUploadHandler } from '#server/rest/upload.ts';
import { createTrpcHandler } from '#server/trpc/handler.ts';
import { pageHeaders } from './page-headers.ts';
import { providePortalRuntime } from './runtime.ts';

const root = join(import.meta.dirname, '..', '..');

await runProcess('portal', async (services) => {
  const { config, log } = services;
  const live = openLive(services.db, log);
  const signIn = openSignIn(services, log);
  const door = { services, live, signIn, log };
  providePortalRuntime(door);

  const pages = next({ dev: false, dir: root, hostname: config.host, port: config.port });
  await pages.prepare();
  const page = pages.getRequestHandler();

  const agent = createAgentHandler(services);
  const auth = createAuthHandler(services, signIn, log);
  const trpc = createTrpcHandler(door);
  const rest = createRestHandler(services);
  const upload = createUploadHandler(services);
  const download = createDownloadHandler(services);
  const doors: readonly { prefix: string; route: Route; uploads?: RegExp }[] = [
    { prefix: '/agent/v1/', route: { core: agent, light: true } },
    { prefix: '/api/v1/', route: { core: rest }, uploads: /\/package$/ },
    { prefix: '/download/', route: { core: download } },
    { prefix: '/upload/', route: { core: upload }, uploads: /\/package$/ },
    {
      prefix: '/api/trpc/',
      route: { core: (request, { remoteAddress, closing }) => trpc(request, remoteAddress, closing) },
    },
    { prefix: '/api/auth/', route: { core: (request, { remoteAddress }) => auth(request, remoteAddress) } },
  ];
  const exact = new Map<string, Route>([
    ['/healthz', { core: healthz }],
    ['/readyz', { core: createReadyz(services) }],
  ]);

  const serving = await serve({
    host: config.host,
    port: config.port,
    trustProxy: config.trustProxy,
    limits: config.limits,
    log,
    route(path) {
      const found = doors.find(({ prefix }) => path.startsWith(prefix));
      if (found === undefined) return exact.get(path) ?? null;
      return found.uploads?.test(path) === true ? { ...found.route, upload: true } : found.route;
    },
    fallback(request, response) {
      // A layout cannot know its path from Next, and must name it to the sign-in. Whatever came in is overwritten.
      request.headers['x-annex-path'] = request.url;
      // Before anything of the page is read: its live connection goes on from here.
      request.headers['x-annex-live'] = live.position();
      const { policy, headers } = pageHeaders(config.url);
      request.headers['content-security-policy'] = policy;
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      return page(request, response);
    },
  });
  return async () => {
    const drained = serving.close();
    await agent.close();
    await drained;
    await live.close();
    await pages.close();
  };
});
