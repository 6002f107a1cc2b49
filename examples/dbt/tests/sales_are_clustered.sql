-- a test of dbt fails if it returns rows
SELECT 'no run has clustered this table' AS problem
WHERE NOT EXISTS (SELECT * FROM zorder_history('{{ ref("sales") }}') WHERE operation = 'OPTIMIZE')
