import type { PackageFile } from '#db/schema/index.ts';
import type { HandlerManifest } from '#protocol/manifest.ts';
import type { ErrorParams, Fault } from '#server/domain/error.ts';

/** What was read from a package that holds nothing hostile. */
export interface AcceptedPackage {
  ok: true;
  manifest: HandlerManifest;
  /** The text of HandlerManifest.json without a byte-order mark. */
  manifestText: string;
  /** Files in the order of the zip, folders left out. */
  files: PackageFile[];
  /** Findings that a publisher should see and that refuse nothing. */
  warnings: Fault[];
}

export interface RefusedPackage {
  ok: false;
  faults: Fault[];
}

export type Inspection = AcceptedPackage | RefusedPackage;

const most = 100;

/** Gathers findings in the order in which they are made; beyond 100 they are only counted. */
export class Findings {
  private readonly kept: Fault[] = [];
  private readonly dropped: 'more_faults' | 'more_warnings';
  count = 0;

  constructor(dropped: 'more_faults' | 'more_warnings') {
    this.dropped = dropped;
  }

  /** `path` is the name of an entry as far as it can be shown; empty for the package as a whole. */
  add(path: string, code: Fault['code'], params?: ErrorParams): void {
    this.count++;
    if (this.kept.length < most) this.kept.push(params === undefined ? { path, code } : { path, code, params });
  }

  list(): Fault[] {
    const rest = this.count - this.kept.length;
    return rest === 0 ? this.kept : [...this.kept, { path: '', code: this.dropped, params: { count: rest } }];
  }
}
