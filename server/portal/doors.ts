import { agentUploads, createAgentHandler } from '#server/agent-api/door.ts';
import { createInstallHandler, isInstallPath } from '#server/agent-files/door.ts';
import { createAuthHandler, type SignIn } from '#server/auth/index.ts';
import type { Live } from '#server/live/index.ts';
import type { HttpRoute } from '#server/process/http.ts';
import { bearerAuthentication } from '#server/rest/authenticate-bearer.ts';
import type { DoorServices } from '#server/rest/create-door.ts';
import { createRestHandler, restUploads } from '#server/rest/door.ts';
import { createDownloadHandler } from '#server/rest/download.ts';
import { createUploadHandler } from '#server/rest/upload.ts';
import { createTrpcHandler } from '#server/trpc/door.ts';
import { createWireHandler, wireUploads } from '#server/wire/door.ts';

/** The portal's entry points, except its pages. */
export interface Doors {
  /** Returns the entry point for a path; null if there is none. */
  route(path: string): HttpRoute | null;
  /** Releases held polls and writes the agent API's pending data. */
  close(): Promise<void>;
}

/** Creates the entry points: agent APIs, installer, REST API, tRPC, sign-in, uploads and downloads. */
export function openDoors(services: DoorServices, live: Live, signIn: SignIn): Doors {
  const { log } = services;
  const agent = createAgentHandler(services);
  const wire = createWireHandler(agent.door);
  const wireRoute: HttpRoute = { core: wire, direct: wire.serve, light: true };
  const auth = createAuthHandler(services, signIn, log);
  const trpc = createTrpcHandler({ services, live, signIn, log });
  // Shared, so that failed attempts at the two entry points that accept API tokens are counted together.
  const byToken = bearerAuthentication(services, signIn.attempts);
  const rest = createRestHandler(services, byToken);
  const upload = createUploadHandler(services);
  const download = createDownloadHandler(services, byToken);
  const install: HttpRoute = { core: createInstallHandler(services.config) };
  const doors: readonly { prefix: string; route: HttpRoute; uploads?: RegExp }[] = [
    { prefix: '/agent/v1/', route: { core: agent, direct: agent.serve, light: true }, uploads: agentUploads },
    { prefix: '/wire/', route: wireRoute },
    { prefix: '/hgap/', route: wireRoute, uploads: wireUploads },
    { prefix: '/api/v1/', route: { core: rest }, uploads: restUploads },
    { prefix: '/download/', route: { core: download } },
    { prefix: '/upload/', route: { core: upload }, uploads: /\/(package|runbook-files\/[^/]+)$/ },
    {
      prefix: '/api/trpc/',
      route: { core: (request, { remoteAddress, closing }) => trpc(request, remoteAddress, closing) },
    },
    { prefix: '/api/auth/', route: { core: (request, { remoteAddress }) => auth(request, remoteAddress) } },
  ];
  return {
    route(path) {
      if (isInstallPath(path)) return install;
      const found = doors.find(({ prefix }) => path.startsWith(prefix));
      if (found === undefined) return null;
      return found.uploads?.test(path) === true ? { ...found.route, upload: true } : found.route;
    },
    close: () => agent.close(),
  };
}
