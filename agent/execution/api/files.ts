import { resolve } from 'node:path';
import { PlanFaults, type PlanFile, readFile } from '#protocol/executions/index.ts';
import { maskedText } from '../../handler/mask.ts';
import { CallError } from '../call-error.ts';
import type { ExecutionContext } from '../execution-context.ts';
import { unavailable } from '../place-file.ts';

/** The files of an execution: those of the plan, and those that the Body adds. */
export class ExecutionFiles {
  private readonly context: ExecutionContext;
  private added = 0;

  constructor(context: ExecutionContext) {
    this.context = context;
  }

  /** Implements `api.putFile`: writes a file, and returns its full path. Resolves `path` against the working folder. */
  async put(id: unknown, path: unknown): Promise<string> {
    if (typeof id !== 'string' || typeof path !== 'string' || path === '' || path.includes('\0')) {
      throw new CallError('TypeError', 'putFile needs the id of a file and a path.');
    }
    const file = this.context.plan.files.get(id);
    if (file === undefined) throw unavailable(id, 'the plan has no such file');
    const { folders, files, transcript, secrets } = this.context;
    const target = resolve(folders.work, path);
    await files.copy(id, file, target, 0o644);
    if (path.startsWith('/')) {
      transcript.add('note', maskedText(`The file ${id} was written to ${target}.`, secrets));
    }
    return target;
  }

  /** Implements `api.addFile`: adds a file `{Name, BodyType, Body}`, and returns its id. */
  add(value: unknown): string {
    const faults = new PlanFaults();
    const file: PlanFile | null = readFile(faults, value, []);
    if (file === null) {
      const list = faults.all.map(({ path, code }) => `${path === '' ? 'it' : path}: ${code}`).join(', ');
      throw new CallError('InvalidFile', `The file cannot be added: ${list}.`, { info: { faults: faults.all } });
    }
    const { files } = this.context.plan;
    do this.added += 1;
    while (files.has(`added-${this.added}`));
    const id = `added-${this.added}`;
    files.set(id, file);
    return id;
  }
}
