import type { PackageFile, SettingsSchema } from '#db/schema/index.ts';
import type { FormulaManifest } from '#protocol/formula.ts';
import type { PackageKind } from '#protocol/formula-words.ts';
import type { HandlerManifest } from '#protocol/manifest.ts';
import type { ErrorParams, Fault } from '#server/domain/error.ts';

/** The manifest of a package, and what else its kind contains. */
export type PackageManifest =
  | { kind: 'handler'; manifest: HandlerManifest; settingsSchema: null }
  /** `settingsSchema` describes the options in config.yaml; null without that file. */
  | { kind: 'formula'; manifest: FormulaManifest; settingsSchema: SettingsSchema | null };

/** What the caller knows about a package before it is inspected. */
export interface ExpectedPackage {
  /** Null if the package may be of either kind. */
  kind: PackageKind | null;
  /** The last segment of the id, which must be the name of a formula; null if it is unknown. */
  name: string | null;
}

/** The contents of an accepted package. */
export type AcceptedPackage = PackageManifest & {
  ok: true;
  /** The text of the manifest without a byte-order mark. */
  manifestText: string;
  /** Files in the order of the zip's directory, without folders. */
  files: PackageFile[];
  /** Findings that a publisher should see, but that do not prevent acceptance. */
  warnings: Fault[];
};

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

  /** Whether further findings are only counted, so that their parameters are not needed. */
  get isFull(): boolean {
    return this.kept.length >= most;
  }

  list(): Fault[] {
    const rest = this.count - this.kept.length;
    return rest === 0 ? this.kept : [...this.kept, { path: '', code: this.dropped, params: { count: rest } }];
  }
}
