import { initTRPC, TRPCError, type TRPCProcedureType } from '@trpc/server';
import type { ReaderWishes } from '#protocol/index.ts';
import { isOwnMutation, isOwnRead, type Session, type SignIn } from '#server/auth/index.ts';
import { allow, anonymous } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { type Language, languages } from '#server/i18n/index.ts';
import type { Live } from '#server/live/index.ts';
import { errorData, toTrpcError } from './error.ts';
import { permissionOf } from './permissions.ts';
import { sessionReads } from './session-reads.ts';
import { transformer } from './transformer.ts';

/** What the door knows of a request before anybody is looked up; making it cannot fail. */
export interface DoorContext extends Omit<Context, 'actor'> {
  headers: Headers;
  /** What the reader asks for: for messages of handlers. Once the session is read, its account's language goes first. */
  reader: ReaderWishes;
  /** The portal's own language for that reader. */
  language: Language;
  /** Headers of the answer, for cookies. */
  responseHeaders: Headers;
  /** HTTP status of a stream that is rejected before it begins; by itself the library answers such a call with 200. */
  rejection: { status: number | null };
  address: string;
  /** A page that is rendered in this process asks: it may read. Its request is a visit, which changes nothing. */
  isPage: boolean;
  /** Aborted when the process begins to end: what is held open ends then. */
  closing: AbortSignal | undefined;
  live: Live;
  signIn: SignIn;
  /** Who is signed in; looked up once per request, when the first procedure asks. */
  session(): Promise<Session | null>;
}

const t = initTRPC.context<DoorContext>().create({
  transformer,
  isDev: false,
  errorFormatter({ shape, error, ctx }) {
    const data = errorData(error, ctx?.language ?? languages[0], ctx?.requestId ?? '');
    return { ...shape, message: data.message, data };
  },
  // A page that hears nothing for 12 s takes its connection for dead and makes a new one.
  sse: { ping: { enabled: true, intervalMs: 5_000 }, client: { reconnectAfterInactivityMs: 12_000 } },
});

export const router = t.router;
export const createCallerFactory = t.createCallerFactory;

/**
 * Every procedure: the call comes from a page of ours (cookies ride along with calls of foreign pages too), the actor
 * is who is signed in and may make it by the table, and what is thrown becomes an error of this door.
 */
export const procedure = t.procedure.use(async ({ ctx, type, path, next }) => {
  try {
    if (!isAllowedFrom(ctx, type))
      throw new DomainError('forbidden', 'origin_refused', { params: { url: ctx.config.url } });
    const session = await ctx.session();
    const actor = session?.actor ?? anonymous;
    const { role, beforeFactor = false } = permissionOf(path);
    if (role !== null && !(beforeFactor && session?.needsFactor)) allow(actor, role);
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

/** With a status of its own a rejected stream is a failed connection for pages, which try again with growing pauses. */
function rejectStream(ctx: DoorContext, error: TRPCError): void {
  const { httpStatus, retryAfter } = errorData(error, ctx.language, ctx.requestId);
  ctx.rejection.status = httpStatus;
  if (retryAfter !== null) ctx.responseHeaders.set('retry-after', String(retryAfter));
}

/** Where a call may come from. What only reads may be asked from anywhere: browsers show the answer to our pages only. */
function isAllowedFrom({ isPage, headers, config }: DoorContext, type: TRPCProcedureType): boolean {
  if (type === 'mutation') return !isPage && isOwnMutation(headers, config);
  return type === 'query' || isOwnRead(headers, config);
}

/** What verbs get here: their own context, and the door's for the few that set cookies. */
export type CallContext = Context & DoorContext;

type Verb<Input, Output> = (ctx: CallContext, input: Input) => Promise<Output>;

/** Inputs are parsed once, by the verb, which names every fault by its place; here they get their type. */
const asVerbTakesIt =
  <Input>() =>
  (input: unknown): Input =>
    input as Input;

/** A verb that reads, as a procedure. */
export const query = <Input, Output>(verb: Verb<Input, Output>) =>
  procedure.input(asVerbTakesIt<Input>()).query(({ ctx, input }) => verb(ctx, input as Input));

/** A verb that reads a list by pages. The pages' client says `null` for the first one, and which way it walks. */
export const pagedQuery = <Input, Output>(verb: Verb<Input, Output>) =>
  procedure.input(asVerbTakesIt<Input>()).query(({ ctx, input }) => {
    const { cursor, direction: _, ...asked } = (input ?? {}) as Input & { cursor?: string | null; direction?: unknown };
    return verb(ctx, (cursor === null ? asked : { ...asked, cursor }) as Input);
  });

/** A verb that reads and takes no input, as a procedure. */
export const plainQuery = <Output>(verb: (ctx: CallContext) => Promise<Output>) =>
  procedure.query(({ ctx }) => verb(ctx));

/** A verb that changes something, as a procedure. */
export const mutation = <Input, Output>(verb: Verb<Input, Output>) =>
  procedure.input(asVerbTakesIt<Input>()).mutation(({ ctx, input }) => verb(ctx, input as Input));

/** The same without input. */
export const plainMutation = <Output>(verb: (ctx: CallContext) => Promise<Output>) =>
  procedure.mutation(({ ctx }) => verb(ctx));
