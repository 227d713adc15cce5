import { initTRPC, TRPCError, type TRPCProcedureType } from '@trpc/server';
import { isWithinDepth } from '#protocol/executions/index.ts';
import type { ReaderWishes } from '#protocol/index.ts';
import { isOwnMutation, isOwnRead, type Session, type SignIn } from '#server/auth/index.ts';
import { allow, allowRoleOrScripts, allowScripts, anonymous } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { type Language, languages } from '#server/i18n/index.ts';
import type { Live } from '#server/live/index.ts';
import { errorData, toTrpcError } from './error.ts';
import { permissionOf } from './permissions.ts';
import { sessionReads } from './session-reads.ts';
import { transformer } from './transformer.ts';

/** The context of a request before its session is looked up. Creating it cannot fail. */
export interface DoorContext extends Omit<Context, 'actor'> {
  headers: Headers;
  /**
   * The languages that the user prefers, for handlers' messages. Once the session has been read, the account's language
   * comes first.
   */
  reader: ReaderWishes;
  language: Language;
  /** Headers of the response, to which cookies are added. */
  responseHeaders: Headers;
  /** HTTP status of a stream that is rejected before it starts. Otherwise, the library would respond with 200. */
  rejection: { status: number | null };
  address: string;
  /** Whether the caller is a page rendered in this process. Such a page may only read. */
  isPage: boolean;
  /** Aborted when the process starts to shut down, so that open streams end. */
  closing: AbortSignal | undefined;
  live: Live;
  signIn: SignIn;
  /** Returns the session; null if there is none. It is looked up once per request, when first needed. */
  session(): Promise<Session | null>;
}

const t = initTRPC.context<DoorContext>().create({
  transformer,
  isDev: false,
  errorFormatter({ shape, error, ctx }) {
    const data = errorData(error, ctx?.language ?? languages[0], ctx?.requestId ?? '');
    return { ...shape, message: data.message, data };
  },
  // A page that receives nothing for 12 seconds reconnects.
  sse: { ping: { enabled: true, intervalMs: 5_000 }, client: { reconnectAfterInactivityMs: 12_000 } },
});

export const router = t.router;
export const createCallerFactory = t.createCallerFactory;

/**
 * The base of all procedures. Checks permissions, converts errors, and rejects changes and streams that other sites
 * request, because browsers send cookies with such requests too.
 */
export const procedure = t.procedure.use(async ({ ctx, type, path, next, getRawInput }) => {
  try {
    if (!isAllowedFrom(ctx, type))
      throw new DomainError('forbidden', 'origin_refused', { params: { url: ctx.config.url } });
    const session = await ctx.session();
    const actor = session?.actor ?? anonymous;
    const { role, grant, orGrant, beforeFactor = false } = permissionOf(path);
    if (orGrant === 'scripts' && role !== null) allowRoleOrScripts(actor, role);
    else if (role !== null && !(beforeFactor && session?.needsFactor)) allow(actor, role);
    if (grant === 'scripts') allowScripts(actor);
    requireWithinDepth(ctx, await getRawInput());
    const call = () => next({ ctx: { actor } });
    const result = await (type === 'query' && session !== null
      ? ctx.memory.of(sessionReads).run(session.id, call)
      : call());
    if (!result.ok) throw result.error;
    return result;
  } catch (error) {
    const cause = error instanceof TRPCError ? error.cause : error;
    if (cause instanceof DomainError) await ctx.signIn.attempts.note(cause, ctx, (await ctx.session())?.actor.id);
    const rejection = toTrpcError(error, ctx.language, ctx.requestId);
    if (type === 'subscription') rejectStream(ctx, rejection);
    throw rejection;
  }
});

/** Rejects input that is nested so deeply that functions which recurse into it would fail. */
function requireWithinDepth({ config }: DoorContext, input: unknown): void {
  const limit = config.limits.jsonDepth;
  if (!isWithinDepth(input, limit)) throw new DomainError('unprocessable', 'json_too_deep', { params: { limit } });
}

/** Sets the HTTP status of a rejected stream, so that pages treat it as a failed connection and retry with backoff. */
function rejectStream(ctx: DoorContext, error: TRPCError): void {
  const { httpStatus, retryAfter } = errorData(error, ctx.language, ctx.requestId);
  ctx.rejection.status = httpStatus;
  if (retryAfter !== null) ctx.responseHeaders.set('retry-after', String(retryAfter));
}

/**
 * Whether a call's origin is allowed. Queries may come from any site, because browsers show the response only to the
 * portal's pages.
 */
function isAllowedFrom({ isPage, headers, config }: DoorContext, type: TRPCProcedureType): boolean {
  if (type === 'mutation') return !isPage && isOwnMutation(headers, config);
  return type === 'query' || isOwnRead(headers, config);
}

/** The context of verbs that pages call. A few of them set cookies. */
export type CallContext = Context & DoorContext;

type Verb<Input, Output> = (ctx: CallContext, input: Input) => Promise<Output>;

/** Gives input its type without parsing it, because the verb parses it and reports every fault with its path. */
const asVerbTakesIt =
  <Input>() =>
  (input: unknown): Input =>
    input as Input;

/** Turns a verb that reads into a procedure. A call without input gets an empty object. */
export const query = <Input, Output>(verb: Verb<Input, Output>) =>
  procedure.input(asVerbTakesIt<Input>()).query(({ ctx, input }) => verb(ctx, (input ?? {}) as Input));

/**
 * Turns a verb that reads a paged list into a procedure. Removes what the pages' client adds: a direction, and null as
 * the first cursor.
 */
export const pagedQuery = <Input, Output>(verb: Verb<Input, Output>) =>
  procedure.input(asVerbTakesIt<Input>()).query(({ ctx, input }) => {
    const { cursor, direction: _, ...asked } = (input ?? {}) as Input & { cursor?: string | null; direction?: unknown };
    return verb(ctx, (cursor === null ? asked : { ...asked, cursor }) as Input);
  });

/** Turns a verb that reads and has no input into a procedure. */
export const plainQuery = <Output>(verb: (ctx: CallContext) => Promise<Output>) =>
  procedure.query(({ ctx }) => verb(ctx));

/** Turns a verb that changes something into a procedure. */
export const mutation = <Input, Output>(verb: Verb<Input, Output>) =>
  procedure.input(asVerbTakesIt<Input>()).mutation(({ ctx, input }) => verb(ctx, input as Input));

/** Turns a verb that changes something and has no input into a procedure. */
export const plainMutation = <Output>(verb: (ctx: CallContext) => Promise<Output>) =>
  procedure.mutation(({ ctx }) => verb(ctx));
