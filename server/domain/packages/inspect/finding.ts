import type { PackageFile } from '#db/schema/index.ts';
import type { HandlerManifest } from '#protocol/manifest.ts';
import type { ErrorParams, Fault } from '#server/domain/error.ts';

/** The contents of an accepted package. */
export interface AcceptedPackage {
  ok: true;
  manifest: HandlerManifest;
  /** The text of HandlerManifest.json without a byte-order mark. */
  manifestText: string;
  /** Files in the order of the zip's directory, without folders. */
  files: PackageFile[];
  /** Findings that a publisher should see, but that do not prevent acceptance. */
  warnings: Fault[];
}

export interface RejectedPackage {
  ok: false;
  faults: Fault[];
}

export type Inspection = AcceptedPackage | RejectedPackage;

const most = 100;

/** Collects findings in order. After the first 100, further findings are only counted. */
export class Findings {
  private readonly kept: Fault[] = [];
  private readonly dropped: 'more_faults' | 'more_warnings';
  count = 0;

  constructor(dropped: 'more_faults' | 'more_warnings') {
    this.dropped = dropped;
  }

  /**
   * `path` is the printable name of an entry, for a field of the manifest followed by `#` and a JSON pointer. Empty for
   * the whole package.
   */
  add(path: string, code: Fault['code'], params?: ErrorParams): void {
    this.count++;
    if (this.kept.length < most) this.kept.push(params === undefined ? { path, code } : { path, code, params });
  }

  list(): Fault[] {
    const rest = this.count - this.kept.length;
    return rest === 0 ? this.kept : [...this.kept, { path: '', code: this.dropped, params: { count: rest } }];
  }
}
