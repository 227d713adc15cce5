import type { inferRouterInputs } from '@trpc/server';
import { type Permission, permissions } from './permissions.ts';
import { accountRouter } from './routers/account.ts';
import { activityRouter } from './routers/activity.ts';
import { attentionRouter } from './routers/attention.ts';
import { executionsRouter } from './routers/executions.ts';
import { findsRouter } from './routers/finds.ts';
import { fleetRouter } from './routers/fleet.ts';
import { gatewayRouter } from './routers/gateway.ts';
import { goalStatesRouter } from './routers/goal-states.ts';
import { handlersRouter } from './routers/handlers.ts';
import { instanceViewsRouter } from './routers/instance-views.ts';
import { invitationsRouter } from './routers/invitations.ts';
import { liveRouter } from './routers/live.ts';
import { membersRouter } from './routers/members.ts';
import { modelsRouter } from './routers/models.ts';
import { outputsRouter } from './routers/outputs.ts';
import { overviewRouter } from './routers/overview.ts';
import { packagesRouter } from './routers/packages.ts';
import { publishersRouter } from './routers/publishers.ts';
import { relationsRouter } from './routers/relations.ts';
import { resourcesRouter } from './routers/resources.ts';
import { rolloutRulesRouter } from './routers/rollout-rules.ts';
import { rolloutsRouter } from './routers/rollouts.ts';
import { runbookFilesRouter } from './routers/runbook-files.ts';
import { runbooksRouter } from './routers/runbooks.ts';
import { servicesRouter } from './routers/services.ts';
import { signInRouter } from './routers/sign-in.ts';
import { strategiesRouter } from './routers/strategies.ts';
import { tokensRouter } from './routers/tokens.ts';
import { topologyRouter } from './routers/topology.ts';
import { unitsRouter } from './routers/units.ts';
import { vmsRouter } from './routers/vms.ts';
import { createCallerFactory, router } from './trpc.ts';

/** All procedures of the pages, in one router per noun. */
export const appRouter = router({
  activity: activityRouter,
  account: accountRouter,
  attention: attentionRouter,
  executions: executionsRouter,
  finds: findsRouter,
  fleet: fleetRouter,
  gateway: gatewayRouter,
  goalStates: goalStatesRouter,
  handlers: handlersRouter,
  instanceViews: instanceViewsRouter,
  invitations: invitationsRouter,
  live: liveRouter,
  members: membersRouter,
  models: modelsRouter,
  outputs: outputsRouter,
  overview: overviewRouter,
  packages: packagesRouter,
  publishers: publishersRouter,
  relations: relationsRouter,
  resources: resourcesRouter,
  rolloutRules: rolloutRulesRouter,
  rollouts: rolloutsRouter,
  runbookFiles: runbookFilesRouter,
  runbooks: runbooksRouter,
  services: servicesRouter,
  signIn: signInRouter,
  strategies: strategiesRouter,
  tokens: tokensRouter,
  topology: topologyRouter,
  units: unitsRouter,
  vms: vmsRouter,
});

type Procedures = inferRouterInputs<typeof appRouter>;
/** The names of all procedures, as `router.procedure`. */
type Path = { [R in keyof Procedures & string]: `${R}.${keyof Procedures[R] & string}` }[keyof Procedures & string];

// This line does not compile if a procedure is missing in the table of permissions.
permissions satisfies Record<Path, Permission>;

/** The type from which the browser's client is derived. */
export type AppRouter = typeof appRouter;

export const createCaller = createCallerFactory(appRouter);
export type AppCaller = ReturnType<typeof createCaller>;
