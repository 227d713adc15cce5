import { BlockList, isIP, isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { type AnchorTarget, readAnchorTargets } from './anchors.ts';
import { readDatabaseUrl } from './database/index.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { type OpenIdConfig, openIdOf, openIdPairs, openIdVariables } from './openid-env.ts';

/** The configuration, read once at startup. Documented in docs/operations.md. */
export interface Config {
  host: string;
  port: number;
  gatewayPort: number;
  /** Number of gateway processes that share the port. */
  gatewayWorkers: number;
  /** Origin of the portal as browsers see it, without a trailing slash. */
  url: string;
  /** Origin of the gateway as agents see it, without a trailing slash. */
  gatewayUrl: string;
  /** Addresses and networks of trusted proxies. Forwarded headers are accepted only from them. */
  trustProxy: BlockList;
  /** Paths of the certificate and key files; null if the gateway itself does not use TLS. */
  tls: { certFile: string; keyFile: string } | null;
  /**
   * URL of the external PostgreSQL. Null to use the embedded one, whose URL the launcher passes to the processes that
   * it starts.
   */
  databaseUrl: string | null;
  /** If set, wake-ups use NATS instead of NOTIFY. */
  natsUrl: string | null;
  /** Absolute path of the data folder. */
  dataDir: string;
  /** The secret key; null to use the file in `dataDir` (secret-key.ts). */
  secretKey: string | null;
  bootstrap: {
    /** The bootstrap token. Set only in the launcher; the portal gets `digest` instead. */
    token: string | null;
    /** SHA-256 of the token, in hex. */
    digest?: string | null;
    person: { email: string; password: string } | null;
  };
  /** The OpenID provider for signing in; null if none is configured. */
  openId: OpenIdConfig | null;
  /** Maximum requests per second from one VM to one process; 0 disables the limit. */
  vmRate: number;
  /** The AMQP broker over which VMs can get execution plans. */
  amqp: {
    /** URLs of the broker's nodes; empty if there is no broker. Set only in the launcher and the conductor. */
    urls: readonly string[];
    /** PEM file with the certificate authorities to trust for the broker; null to trust those of the machine. */
    caFile: string | null;
    /** Queue to which agents send results and log messages. */
    results: string;
    /** Prefix of the names of input queues; the rest of a name is the id of the VM. */
    queuePrefix: string;
  };
  /** The fabric, which provides cloud services with public addresses and machines with internal addresses. */
  fabric: {
    /**
     * Whether the process `fabric` serves the public addresses (`proxy`), and also starts a reference agent for each
     * new role (`spawn`). With `off`, endpoints are only recorded.
     */
    mode: FabricMode;
    /** The network of the public addresses of cloud services. */
    addresses: string;
    /** The network of each new model. */
    network: string;
    /** The domain of the DNS names of cloud services. */
    domain: string;
  };
  custody: 'portal' | 'vm';
  /** Whether a machine must prove at enrollment that it holds its certificate's key. */
  enrolProof: 'optional' | 'required';
  /** Whether the wire server, which stock Azure Linux agents use, is enabled. */
  wire: boolean;
  /** Retention of accumulating data, in days. */
  keptDays: {
    /** Days for which reports are kept as the agents sent them. */
    reports: number;
    /** Days for which command outputs and log archives are kept. */
    logs: number;
    /** Days for which executions are kept after they end. */
    executions: number;
    /** Days for which steps and members of rollouts are kept after the rollouts end. */
    rollouts: number;
    /** Days for which the events of relations are kept. */
    relations: number;
    /** Days for which changes to the health of VMs and extensions are kept. */
    health: number;
    /**
     * Days for which counts of VMs per handler version are kept. Counts are hourly; after two weeks, only one count a
     * day is kept.
     */
    counts: number;
    /** Days for which invitations and tokens are kept after they end. */
    ended: number;
    /** Days for which runs of hooks are kept. */
    hooks: number;
  };
  /** Contacts for vulnerability reports, as listed in security.txt. */
  securityContacts: readonly string[];
  /** Where to send the head of the activity log. */
  auditAnchors: readonly AnchorTarget[];
  logLevel: 'debug' | 'info' | 'warn' | 'error';
  /** Whether pages are compiled when requested and reloaded when they change (`NODE_ENV=development`). */
  development: boolean;
  limits: Limits;
}

/**
 * Thrown for an invalid environment. The message says what is wrong with each invalid variable, but never contains a
 * secret.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Whether the fabric serves public addresses, and starts agents. */
export const fabricModes = ['off', 'proxy', 'spawn'] as const;
export type FabricMode = (typeof fabricModes)[number];

/** The network of new models by default. Agents that the fabric starts run on this machine, so their network does too. */
const fabricNetwork: Readonly<Record<FabricMode, string>> = {
  ...{ off: '10.0.0.0/8', proxy: '10.0.0.0/8', spawn: '127.64.0.0/12' },
};

const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port from 1 to 65535')
  .transform(Number)
  .refine((value) => value >= 1 && value <= 65_535, 'must be a port from 1 to 65535');

const origin = z.string().transform((text, ctx) => {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '' && url.hash === '') {
    if (url.username === '' && url.password === '') return url.origin;
  }
  ctx.addIssue({ code: 'custom', message: 'must be http:// or https:// with a host and nothing after it' });
  return z.NEVER;
});

const secret = (what: string) => z.string().min(32, `must have 32 characters or more${what}`);

const proxies = z.string().transform((text, ctx) => {
  const list = new BlockList();
  for (const entry of text.split(',').map((part) => part.trim())) {
    const [address = '', bits, ...rest] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    const width = family === 'ipv6' ? 128 : 32;
    if (
      isIP(address) === 0 ||
      rest.length > 0 ||
      (bits !== undefined && !(/^\d+$/.test(bits) && Number(bits) <= width))
    ) {
      ctx.addIssue({ code: 'custom', message: 'must be addresses or networks (10.0.0.0/8) separated by commas' });
      return z.NEVER;
    }
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
});

const days = z
  .string()
  .regex(/^[1-9]\d{0,3}$/, 'must be a number of days')
  .transform(Number);

const databaseUrl = z.string().superRefine((text, ctx) => {
  try {
    readDatabaseUrl(text);
  } catch (error) {
    ctx.addIssue({ code: 'custom', message: (error as Error).message });
  }
});

/** URLs of a NATS cluster. The client uses the name and password of the first URL for all servers. */
const natsUrl = z
  .string()
  .refine(
    (text) => text.split(',').every((one) => /^(nats|tls):\/\/[^/]/.test(one.trim()) && URL.canParse(one.trim())),
    'must be nats:// or tls:// addresses separated by commas',
  );

/** URLs of a broker's nodes, which are tried in turn. */
const amqpUrls = z.string().transform((text, ctx) => {
  const urls = text.split(',').map((one) => one.trim());
  if (urls.every((url) => /^amqps?:\/\/[^/]/.test(url) && URL.canParse(url))) return urls;
  ctx.addIssue({ code: 'custom', message: 'must be amqp:// or amqps:// addresses separated by commas' });
  return z.NEVER;
});

const amqpName = z.string().regex(/^[\w.:-]{1,200}$/, 'must have 1 to 200 letters, digits and . : _ -');

const network = z
  .string()
  .regex(/^\d{1,3}(\.\d{1,3}){3}\/([89]|1\d|2[0-8])$/, 'must be an IPv4 network with 8 to 28 bits, such as 10.0.0.0/8');

const securityContacts = z.string().transform((text, ctx) => {
  const contacts = text.split(',').map((one) => one.trim());
  if (contacts.every((one) => /^(mailto:[^@\s]+@|https:\/\/|tel:\+)[^\s]+$/.test(one) && URL.canParse(one)))
    return contacts;
  ctx.addIssue({ code: 'custom', message: 'must be mailto:, https:// or tel: addresses separated by commas' });
  return z.NEVER;
});

const auditAnchors = z.string().transform((text, ctx) => {
  try {
    return readAnchorTargets(text);
  } catch (error) {
    ctx.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
});

const limits = z.string().transform((text, ctx) => {
  try {
    return mergeLimits(defaultLimits, JSON.parse(text) as unknown, '');
  } catch (error) {
    const message = error instanceof SyntaxError ? 'must be JSON' : (error as Error).message;
    ctx.addIssue({ code: 'custom', message });
    return z.NEVER;
  }
});

type Tree = { readonly [key: string]: number | Tree };

/**
 * Replaces defaults with the given positive integers. Throws for an unknown name or a value that is not a positive
 * integer.
 */
function mergeLimits<T>(defaults: T, given: unknown, path: string): T {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new Error(`${path === '' ? 'the whole' : path} must be an object`);
  }
  const merged: Record<string, number | Tree> = { ...(defaults as Tree) };
  for (const [key, value] of Object.entries(given)) {
    const at = path === '' ? key : `${path}.${key}`;
    const standing = Object.hasOwn(merged, key) ? merged[key] : undefined;
    if (standing === undefined) throw new Error(`there is no limit ${at}`);
    if (typeof standing === 'object') {
      merged[key] = mergeLimits(standing, value, at);
    } else {
      if (!Number.isSafeInteger(value) || (value as number) < 1)
        throw new Error(`${at} must be a whole number above 0`);
      merged[key] = value as number;
    }
  }
  return merged as T;
}

const environment = z
  .object({
    HOST: z.string().default('127.0.0.1'),
    PORT: port.default(3000),
    GATEWAY_PORT: port.default(3001),
    GATEWAY_WORKERS: z
      .string()
      .regex(/^([1-9]|[1-5]\d|6[0-4])$/, 'must be a number of processes from 1 to 64')
      .transform(Number)
      .default(1),
    ANNEX_URL: origin.optional(),
    ANNEX_GATEWAY_URL: origin.optional(),
    ANNEX_TRUST_PROXY: proxies.optional(),
    ANNEX_TLS_CERT: z.string().optional(),
    ANNEX_TLS_KEY: z.string().optional(),
    DATABASE_URL: databaseUrl.optional(),
    NATS_URL: natsUrl.optional(),
    DATA_DIR: z.string().default('.data'),
    ANNEX_SECRET_KEY: secret('').optional(),
    ANNEX_BOOTSTRAP_TOKEN: secret('')
      .regex(/^[\x21-\x7e]*$/, 'must be plain ASCII without spaces')
      .optional(),
    /** The launcher sets this variable for the portal, instead of the token. */
    ANNEX_BOOTSTRAP_DIGEST: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex')
      .optional(),
    ANNEX_BOOTSTRAP_EMAIL: z.email('must be an email address').optional(),
    ANNEX_BOOTSTRAP_PASSWORD: z
      .string()
      .min(12, 'must have 12 characters or more')
      .max(128, 'must have 128 characters at most')
      .optional(),
    ...openIdVariables,
    ANNEX_VM_RATE: z
      .string()
      .regex(/^\d{1,6}$/, 'must be a whole number, 0 for no limit')
      .transform(Number)
      .default(20),
    ANNEX_AMQP_URL: amqpUrls.optional(),
    ANNEX_AMQP_CA: z.string().optional(),
    ANNEX_AMQP_RESULTS: amqpName.default('annex-execution-results'),
    ANNEX_AMQP_QUEUE_PREFIX: amqpName.default('annex-'),
    ANNEX_CUSTODY: z.enum(['portal', 'vm'], 'must be portal or vm').default('portal'),
    ANNEX_ENROL_PROOF: z.enum(['optional', 'required'], 'must be optional or required').default('optional'),
    ANNEX_WIRE: z.enum(['on', 'off'], 'must be on or off').default('off'),
    ANNEX_REPORT_DAYS: days.default(30),
    ANNEX_LOG_DAYS: days.default(30),
    ANNEX_EXECUTION_DAYS: days.default(90),
    ANNEX_ROLLOUT_DAYS: days.default(400),
    ANNEX_RELATION_DAYS: days.default(30),
    ANNEX_HEALTH_DAYS: days.default(30),
    ANNEX_COUNT_DAYS: days.default(400),
    ANNEX_ENDED_DAYS: days.default(30),
    ANNEX_HOOK_DAYS: days.default(30),
    ANNEX_SECURITY_CONTACT: securityContacts.optional(),
    ANNEX_AUDIT_ANCHORS: auditAnchors.optional(),
    ANNEX_LOG: z.enum(['debug', 'info', 'warn', 'error'], 'must be debug, info, warn or error').default('info'),
    ANNEX_FABRIC: z.enum(fabricModes, 'must be off, proxy or spawn').default('off'),
    ANNEX_FABRIC_ADDRESSES: network.default('127.80.0.0/16'),
    ANNEX_FABRIC_NETWORK: network.optional(),
    ANNEX_FABRIC_DOMAIN: z
      .string()
      .regex(/^[a-z0-9](?:[a-z0-9.-]{0,180}[a-z0-9])?$/, 'must be a domain in lower case')
      .default('cloudapp.internal'),
    ANNEX_LIMITS: limits.optional(),
    NODE_ENV: z.string().optional(),
  })
  .superRefine((env, ctx) => {
    const together = (here: keyof typeof env, there: keyof typeof env): void => {
      if (env[here] !== undefined && env[there] === undefined) {
        ctx.addIssue({ code: 'custom', path: [there], message: `must be set, because ${here} is` });
      }
    };
    together('ANNEX_TLS_CERT', 'ANNEX_TLS_KEY');
    together('ANNEX_TLS_KEY', 'ANNEX_TLS_CERT');
    together('ANNEX_BOOTSTRAP_EMAIL', 'ANNEX_BOOTSTRAP_PASSWORD');
    together('ANNEX_BOOTSTRAP_PASSWORD', 'ANNEX_BOOTSTRAP_EMAIL');
    for (const [here, there] of openIdPairs) together(here, there);
    if (env.ANNEX_OIDC_CLIENT_SECRET !== undefined && env.ANNEX_OIDC_CLIENT_SECRET_FILE !== undefined) {
      ctx.addIssue({
        code: 'custom',
        path: ['ANNEX_OIDC_CLIENT_SECRET_FILE'],
        message: 'must not be set, because ANNEX_OIDC_CLIENT_SECRET is',
      });
    }
    if (env.PORT === env.GATEWAY_PORT) {
      ctx.addIssue({ code: 'custom', path: ['GATEWAY_PORT'], message: 'must differ from PORT' });
    }
  });

/** Variables that every process may need. */
const general = ['NODE_COMPILE_CACHE', 'PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ'];

/** The processes that the launcher starts. `build` builds the pages. */
export type ChildKind = 'portal' | 'gateway' | 'worker' | 'conductor' | 'fabric' | 'build';

/** Returns the names of the variables that a process may inherit. */
function handedDown(kind: ChildKind): string[] {
  if (kind === 'build') return general;
  const settings = Object.keys(environment.shape)
    // The launcher uses these variables itself: it creates the first admin, and passes only the token's digest to the
    // portal.
    .filter((name) => !name.startsWith('ANNEX_BOOTSTRAP_'))
    .filter((name) => kind === 'portal' || !name.startsWith('ANNEX_OIDC_'))
    // The URL contains the broker's password.
    .filter((name) => kind === 'conductor' || name !== 'ANNEX_AMQP_URL');
  return [...settings, ...general];
}

/**
 * Reads the configuration from an environment, by default that of this process. Empty values count as absent. Throws
 * one ConfigError that names all invalid variables.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = environment.safeParse(given);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')} ${issue.message}.`);
    throw new ConfigError(
      `Annex cannot start because of its environment variables:\n${[...new Set(lines)].join('\n')}`,
    );
  }
  const value = parsed.data;
  const { ANNEX_TLS_CERT: certFile, ANNEX_TLS_KEY: keyFile } = value;
  const { ANNEX_BOOTSTRAP_EMAIL: email, ANNEX_BOOTSTRAP_PASSWORD: password } = value;
  const tls =
    certFile !== undefined && keyFile !== undefined ? { certFile: resolve(certFile), keyFile: resolve(keyFile) } : null;
  const name = nameOf(value.HOST);
  return {
    host: value.HOST,
    port: value.PORT,
    gatewayPort: value.GATEWAY_PORT,
    gatewayWorkers: value.GATEWAY_WORKERS,
    url: value.ANNEX_URL ?? `http://${name}:${value.PORT}`,
    gatewayUrl: value.ANNEX_GATEWAY_URL ?? `${tls === null ? 'http' : 'https'}://${name}:${value.GATEWAY_PORT}`,
    trustProxy: value.ANNEX_TRUST_PROXY ?? new BlockList(),
    tls,
    databaseUrl: value.DATABASE_URL ?? null,
    natsUrl: value.NATS_URL ?? null,
    dataDir: resolve(value.DATA_DIR),
    secretKey: value.ANNEX_SECRET_KEY ?? null,
    bootstrap: {
      token: value.ANNEX_BOOTSTRAP_TOKEN ?? null,
      digest: value.ANNEX_BOOTSTRAP_DIGEST ?? null,
      person: email !== undefined && password !== undefined ? { email, password } : null,
    },
    openId: openIdOf(value),
    vmRate: value.ANNEX_VM_RATE,
    amqp: {
      urls: value.ANNEX_AMQP_URL ?? [],
      caFile: value.ANNEX_AMQP_CA === undefined ? null : resolve(value.ANNEX_AMQP_CA),
      results: value.ANNEX_AMQP_RESULTS,
      queuePrefix: value.ANNEX_AMQP_QUEUE_PREFIX,
    },
    fabric: {
      mode: value.ANNEX_FABRIC,
      addresses: value.ANNEX_FABRIC_ADDRESSES,
      network: value.ANNEX_FABRIC_NETWORK ?? fabricNetwork[value.ANNEX_FABRIC],
      domain: value.ANNEX_FABRIC_DOMAIN,
    },
    custody: value.ANNEX_CUSTODY,
    enrolProof: value.ANNEX_ENROL_PROOF,
    wire: value.ANNEX_WIRE === 'on',
    keptDays: {
      reports: value.ANNEX_REPORT_DAYS,
      logs: value.ANNEX_LOG_DAYS,
      executions: value.ANNEX_EXECUTION_DAYS,
      rollouts: value.ANNEX_ROLLOUT_DAYS,
      relations: value.ANNEX_RELATION_DAYS,
      health: value.ANNEX_HEALTH_DAYS,
      counts: value.ANNEX_COUNT_DAYS,
      ended: value.ANNEX_ENDED_DAYS,
      hooks: value.ANNEX_HOOK_DAYS,
    },
    securityContacts: value.ANNEX_SECURITY_CONTACT ?? [],
    auditAnchors: value.ANNEX_AUDIT_ANCHORS ?? [],
    logLevel: value.ANNEX_LOG,
    development: value.NODE_ENV === 'development',
    limits: value.ANNEX_LIMITS ?? defaultLimits,
  };
}

/** Returns the host name for URLs that point to the listening port. */
function nameOf(host: string): string {
  if (['127.0.0.1', '0.0.0.0', '::', '::1'].includes(host)) return 'localhost';
  return isIPv6(host) ? `[${host}]` : host;
}

/** Returns a minimal environment for other processes, such as demo agents. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const { PATH, TMPDIR, LANG, NODE_COMPILE_CACHE } = process.env;
  return {
    NODE_ENV: 'production',
    PATH,
    ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }),
    ...(TMPDIR === undefined ? {} : { TMPDIR }),
    ...(LANG === undefined ? {} : { LANG }),
  };
}

/** Returns the environment of a child process: the variables that it may inherit, and `added`. */
export function childEnvironment(kind: ChildKind, added: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = handedDown(kind).flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(kept), NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', ...added };
}
