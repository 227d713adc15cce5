DROP INDEX "vm_health_since";--> statement-breakpoint
CREATE INDEX "vm_health_rank_since" ON "vm_health" USING btree ("rank","since","vm_id");