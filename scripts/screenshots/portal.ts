import { type APIRequestContext, request } from '@playwright/test';

export type StorageState = Awaited<ReturnType<APIRequestContext['storageState']>>;

/** Sends a member's requests to a running portal, as its pages do. */
export class Person {
  readonly #client: APIRequestContext;

  private constructor(client: APIRequestContext) {
    this.#client = client;
  }

  static async guest(url: string): Promise<Person> {
    return new Person(await request.newContext({ baseURL: url, extraHTTPHeaders: { origin: url } }));
  }

  static async signedIn(url: string, email: string, password: string): Promise<Person> {
    const person = await Person.guest(url);
    const answer = await person.#client.post('/api/auth/sign-in/email', { data: { email, password } });
    if (!answer.ok()) throw new Error(`Sign-in answered ${answer.status()}: ${await answer.text()}`);
    return person;
  }

  async mutate<Answer>(procedure: string, input?: unknown): Promise<Answer> {
    const data = input === undefined ? {} : { json: input };
    const answer = await this.#client.post(`/api/trpc/${procedure}`, { data });
    if (!answer.ok()) throw new Error(`${procedure} answered ${answer.status()}: ${await answer.text()}`);
    return (await answer.json()).result.data.json;
  }

  async query<Answer>(procedure: string): Promise<Answer> {
    const answer = await this.#client.get(`/api/trpc/${procedure}`);
    if (!answer.ok()) throw new Error(`${procedure} answered ${answer.status()}: ${await answer.text()}`);
    return (await answer.json()).result.data.json;
  }

  cookies(): Promise<StorageState> {
    return this.#client.storageState();
  }
}

/** Sends requests to `/api/v1` with a token. `accept` lists statuses to accept besides 2xx. */
export type Api = <Answer>(method: string, path: string, body?: unknown, accept?: readonly number[]) => Promise<Answer>;

export function apiOf(url: string, token: string): Api {
  return async <Answer>(method: string, path: string, body?: unknown, accept: readonly number[] = []) => {
    const isZip = Buffer.isBuffer(body);
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': isZip ? 'application/zip' : 'application/json' }),
      },
      body: body === undefined ? null : isZip ? new Uint8Array(body) : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok && !accept.includes(response.status)) {
      throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    }
    return (text === '' ? undefined : JSON.parse(text)) as Answer;
  };
}
