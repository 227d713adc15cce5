/** Maps relations to the cached VMs whose units take part. */
export class RelationIndex {
  readonly #vms = new Map<number, Set<string>>();
  readonly #relations = new Map<string, readonly number[]>();

  /** Replaces the relations of a VM. */
  set(vmId: string, relations: readonly number[]): void {
    this.forget(vmId);
    if (relations.length === 0) return;
    this.#relations.set(vmId, relations);
    for (const relation of relations) {
      const vms = this.#vms.get(relation) ?? new Set();
      this.#vms.set(relation, vms.add(vmId));
    }
  }

  forget(vmId: string): void {
    for (const relation of this.#relations.get(vmId) ?? []) {
      const vms = this.#vms.get(relation);
      vms?.delete(vmId);
      if (vms?.size === 0) this.#vms.delete(relation);
    }
    this.#relations.delete(vmId);
  }

  /** Returns the number of cached VMs in the largest relation of a VM. */
  largestOf(vmId: string): number {
    const relations = this.#relations.get(vmId) ?? [];
    return relations.reduce((most, relation) => Math.max(most, this.#vms.get(relation)?.size ?? 0), 0);
  }

  vmsOf(relation: number): readonly string[] {
    return [...(this.#vms.get(relation) ?? [])];
  }
}
