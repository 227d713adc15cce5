import { type APIRequestContext, type BrowserContextOptions, expect, request } from '@playwright/test';
import type { Portal } from './portal.ts';

export type Role = 'viewer' | 'operator' | 'publisher' | 'admin';
type StorageState = Awaited<ReturnType<APIRequestContext['storageState']>>;

/** The people of one portal: the first admin, and a member per role that is made when a journey first needs one. */
export class People {
  readonly #portal: Portal;
  readonly #sessions = new Map<string, Promise<StorageState>>();

  constructor(portal: Portal) {
    this.#portal = portal;
  }

  /** Cookies of somebody with this role; `namespaces` are a publisher's. */
  session(role: Role, namespaces: string[] = []): Promise<StorageState> {
    const key = [role, ...namespaces].join(' ');
    const known = this.#sessions.get(key);
    if (known) return known;
    const made = role === 'admin' ? this.#signIn(this.#portal.admin) : this.#join(role, namespaces);
    this.#sessions.set(key, made);
    return made;
  }

  /** Context options that make a browser belong to that person. */
  async browserOf(role: Role, namespaces: string[] = []): Promise<BrowserContextOptions> {
    return { baseURL: this.#portal.url, storageState: await this.session(role, namespaces) };
  }

  async #join(role: Role, namespaces: string[]): Promise<StorageState> {
    const email = `${role}.${this.#sessions.size}@example.org`;
    const password = this.#portal.admin.password;
    const admin = await this.#client(await this.session('admin'));
    const answer = await admin.post('/api/trpc/members.add', {
      data: { json: { email, password, name: `${role[0]?.toUpperCase()}${role.slice(1)}`, role, namespaces } },
    });
    expect(answer.ok(), await answer.text()).toBe(true);
    await admin.dispose();
    return this.#signIn({ email, password });
  }

  async #signIn(person: { email: string; password: string }): Promise<StorageState> {
    const client = await this.#client();
    const answer = await client.post('/api/auth/sign-in/email', { data: person });
    expect(answer.ok(), await answer.text()).toBe(true);
    const state = await client.storageState();
    await client.dispose();
    return state;
  }

  #client(storageState?: StorageState): Promise<APIRequestContext> {
    return request.newContext({
      baseURL: this.#portal.url,
      extraHTTPHeaders: { origin: this.#portal.url },
      ...(storageState === undefined ? {} : { storageState }),
    });
  }
}
