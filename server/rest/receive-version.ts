import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { receiveUpload, removeUpload, type UploadedFile } from '#server/domain/packages/index.ts';
import { parseJson } from '#server/platform/json.ts';
import type { FormPart } from './read-form.ts';

/** Maximum bytes of the part `platforms`, which is far more than a complete list needs. */
const platformsBytes = 16 * 1024;

/** The parts of a version. The package is a temporary file, which the verb must store or delete. */
export interface ReceivedVersion {
  file: UploadedFile;
  schema?: unknown;
  platforms?: unknown;
  resources: unknown[];
}

/**
 * Receives the parts of the form of `registerVersion` in any order. Throws 400 for a malformed form, 413 above a limit,
 * or 422 with all parts that are missing, unknown, duplicate or not JSON. Before throwing, deletes the received
 * package.
 */
export async function receiveVersion(ctx: Context, form: AsyncIterable<FormPart> | null): Promise<ReceivedVersion> {
  const reception = new Reception(ctx);
  try {
    for await (const part of form ?? []) await reception.take(part);
    return reception.result();
  } catch (error) {
    await reception.discard();
    throw error;
  }
}

class Reception {
  private readonly ctx: Context;
  private readonly faults: Fault[] = [];
  private readonly resources: unknown[] = [];
  private file: UploadedFile | undefined;
  private schema: unknown;
  private platforms: unknown;

  constructor(ctx: Context) {
    this.ctx = ctx;
  }

  async take(part: FormPart): Promise<void> {
    const { resources, settings } = this.ctx.config.limits;
    switch (part.name) {
      case 'package':
        if (this.file !== undefined) this.faults.push({ path: part.name, code: 'form_part_twice' });
        else this.file = await receiveUpload(this.ctx, part.bytes);
        return;
      case 'settings-schema':
        if (this.schema !== undefined) this.faults.push({ path: part.name, code: 'form_part_twice' });
        // This limit allows for two schemas, public and protected, and the braces around them. Each schema has its own
        // limit.
        else this.schema = await this.json(part, 2 * settings.schemaBytes + 1024);
        return;
      case 'platforms':
        if (this.platforms !== undefined) this.faults.push({ path: part.name, code: 'form_part_twice' });
        else this.platforms = await this.json(part, platformsBytes);
        return;
      case 'resources':
        this.resources.push(await this.json(part, resources.fileBytes));
        return;
      default:
        this.faults.push({ path: '', code: 'form_part_unknown' });
    }
  }

  private async json(part: FormPart, limit: number): Promise<unknown> {
    const { value, fault, faults } = parseJson(await part.read(limit), { maxDepth: this.ctx.config.limits.jsonDepth });
    if (fault === null) return value;
    const all = faults.length > 0 ? faults : [fault];
    for (const { path, code, params } of all) {
      this.faults.push({ path: path === '' ? part.name : `${part.name}#${path}`, code, ...(params && { params }) });
    }
    return null;
  }

  result(): ReceivedVersion {
    const { file, schema, platforms, resources } = this;
    if (file === undefined) this.faults.push({ path: 'package', code: 'form_part_missing' });
    if (file === undefined || this.faults.length > 0) {
      throw new DomainError('unprocessable', 'version_invalid', { faults: this.faults });
    }
    return { file, resources, ...(schema !== undefined && { schema }), ...(platforms !== undefined && { platforms }) };
  }

  async discard(): Promise<void> {
    if (this.file !== undefined) await removeUpload(this.file);
  }
}
